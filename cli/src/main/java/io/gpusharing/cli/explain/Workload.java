package io.gpusharing.cli.explain;

import io.fabric8.kubernetes.api.model.PartialObjectMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.cli.cluster.ApiKind;
import io.gpusharing.cli.cluster.ApiKinds;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.console.Failure;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What makes pods, itself or by others between: a Deployment, or whatever an operator brings.
 *
 * @param owners says what belongs to it
 * @param pods that do, by name, as many of them as are explained
 * @param more how many besides
 */
record Workload(Owners owners, List<Pod> pods, int more) {

    private static final int MOST_PODS = 20;

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
                                        "The API server %s knows no kind %s in namespaces that can be read; kubectl api-resources --namespaced --verbs=get,list lists all"
                                                .formatted(cluster.url(), named.type())));
        PartialObjectMetadata object =
                cluster.ask(
                        "get",
                        Kind.WORKLOADS,
                        client ->
                                client.genericKubernetesResources(kind.context())
                                        .inNamespace(namespace)
                                        .withName(named.name())
                                        .getAsPartialObjectMetadata());
        if (object == null) {
            throw new Failure(
                    "There is no %s %s in %s"
                            .formatted(
                                    kind.kind().toLowerCase(Locale.ROOT), named.name(), namespace));
        }
        List<PartialObjectMetadata> pods =
                cluster.ask(
                        "list",
                        Kind.PODS_OF_A_NAMESPACE,
                        client ->
                                client.pods()
                                        .inNamespace(namespace)
                                        .listAsPartialObjectMetadata()
                                        .getItems());
        var owners = new Owners(cluster, kinds, namespace, object.getMetadata().getUid(), pods);
        List<String> own =
                pods.stream()
                        .filter(owners::own)
                        .map(pod -> pod.getMetadata().getName())
                        .sorted()
                        .toList();
        return new Workload(
                owners,
                own.stream()
                        .limit(MOST_PODS)
                        .map(name -> pod(cluster, namespace, name))
                        // Some may have gone since they were listed.
                        .flatMap(Optional::stream)
                        .toList(),
                Math.max(0, own.size() - MOST_PODS));
    }

    /** Reads a pod; empty if there is none. */
    static Optional<Pod> pod(Cluster cluster, String namespace, String name) {
        return Optional.ofNullable(
                cluster.ask(
                        "get",
                        Kind.PODS_OF_A_NAMESPACE,
                        client -> client.pods().inNamespace(namespace).withName(name).get()));
    }
}
