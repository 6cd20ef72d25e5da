package io.gpusharing.cli.explain;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.cli.cluster.ApiKind;
import io.gpusharing.cli.cluster.ApiKinds;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.console.Failure;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What makes pods, itself or by others between: a Deployment, or whatever an operator brings.
 *
 * @param owners says what belongs to it
 * @param pods that do, by name
 */
record Workload(Owners owners, List<Pod> pods) {

    /** Words for a pod itself. */
    private static final Set<String> PODS = Set.of("pod", "pods", "po");

    /**
     * What a person has named.
     *
     * @param type in the person's words
     */
    record Named(String type, String name) {

        /**
         * Reads it as kubectl does: {@code TYPE/NAME} or {@code TYPE NAME}; a name alone is a
         * pod's.
         */
        static Named of(List<String> words) {
            String first = words.getFirst();
            int slash = first.indexOf('/');
            if (words.size() == 2 && slash < 0) {
                return new Named(first, words.getLast());
            }
            if (words.size() > 1) {
                throw new Failure("Name one object, as TYPE/NAME or TYPE NAME");
            }
            return slash < 0
                    ? new Named("pod", first)
                    : new Named(first.substring(0, slash), first.substring(slash + 1));
        }

        boolean isPod() {
            return PODS.contains(type.toLowerCase(Locale.ROOT));
        }
    }

    /**
     * Asks the API server for it.
     *
     * @throws Failure if there is none
     */
    static Workload find(Cluster cluster, String namespace, Named named) {
        var kinds = new ApiKinds(cluster);
        ApiKind kind =
                kinds.called(named.type())
                        .orElseThrow(() ->
                                new Failure(
                                        "The API server %s knows no kind %s in namespaces; kubectl api-resources --namespaced lists all"
                                                .formatted(cluster.url(), named.type())));
        GenericKubernetesResource object =
                cluster.ask(
                        "get",
                        Kind.WORKLOADS,
                        client ->
                                client.genericKubernetesResources(kind.context())
                                        .inNamespace(namespace)
                                        .withName(named.name())
                                        .get());
        if (object == null) {
            throw new Failure(
                    "There is no %s %s in %s"
                            .formatted(
                                    kind.kind().toLowerCase(Locale.ROOT), named.name(), namespace));
        }
        List<Pod> pods =
                cluster.ask(
                        "list",
                        Kind.PODS_OF_A_NAMESPACE,
                        client -> client.pods().inNamespace(namespace).list().getItems());
        var owners = new Owners(cluster, kinds, namespace, object.getMetadata().getUid(), pods);
        return new Workload(
                owners,
                pods.stream()
                        .filter(owners::own)
                        .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
                        .toList());
    }
}
