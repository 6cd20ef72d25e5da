package io.gpusharing.webhook.cluster;

import java.util.Set;

/**
 * That an image is not injected because it cannot be pulled.
 *
 * @param namespaces whose pods do not get it; empty for all
 */
public record StoppedInjection(String image, Set<String> namespaces) {

    public StoppedInjection {
        namespaces = Set.copyOf(namespaces);
    }

    /** Whether the pods of a namespace do not get it. */
    public boolean concerns(String namespace) {
        return namespaces.isEmpty() || namespaces.contains(namespace);
    }
}
