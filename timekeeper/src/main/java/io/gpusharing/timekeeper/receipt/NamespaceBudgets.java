package io.gpusharing.timekeeper.receipt;

/** Which budget pays for a namespace. */
@FunctionalInterface
interface NamespaceBudgets {

    /** Its name; with a slash before the namespace's where none does. */
    String name(String namespace);
}
