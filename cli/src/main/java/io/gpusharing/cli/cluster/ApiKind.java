package io.gpusharing.cli.cluster;

import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.List;

/**
 * A kind of objects in namespaces, as the API server describes it.
 *
 * @param group empty for Kubernetes' own first one
 * @param plural for instance {@code pytorchjobs}
 * @param words that people may write for it, in lower case
 */
public record ApiKind(
        String group, String version, String kind, String plural, List<String> words) {

    /** As the client names it. */
    public ResourceDefinitionContext context() {
        return new ResourceDefinitionContext.Builder()
                .withGroup(group)
                .withVersion(version)
                .withKind(kind)
                .withPlural(plural)
                .withNamespaced(true)
                .build();
    }

    @Override
    public String toString() {
        return kind;
    }
}
