package io.gpusharing.scheduler.extender;

import java.util.Optional;

/** Binds pods to nodes. */
@FunctionalInterface
public interface Binder {

    /**
     * Binds a pod; asking again changes nothing.
     *
     * @return why it is not bound, for kube-scheduler, which tries again; empty if it is
     */
    Optional<String> bind(String namespace, String name, String uid, String node);
}
