package io.gpusharing.kubernetes;

import java.util.regex.Pattern;

/** Names of pods and of namespaces, before the API server is asked by a path with them in it. */
public final class ObjectName {

    /** Names of objects, and of namespaces, which are shorter (RFC 1123). */
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

    private ObjectName() {}

    /**
     * The same text.
     *
     * @throws IllegalArgumentException if no pod and no namespace can have it for its name
     */
    public static String checked(String text) {
        if (!NAME.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "\"%s\" is no name of a pod or a namespace".formatted(text));
        }
        return text;
    }
}
