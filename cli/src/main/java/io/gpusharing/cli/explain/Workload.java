package io.gpusharing.cli.explain;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ReplicationController;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.ReplicaSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.CronJob;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.console.Failure;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Something that makes pods, as people name it: {@code deployment/serve}.
 *
 * @param kind what it is
 */
record Workload(Type kind, String name) {

    /** What makes pods, itself or by another. */
    enum Type {
        DEPLOYMENT(Deployment.class, ReplicaSet.class, "deploy"),
        REPLICASET(ReplicaSet.class, null, "rs"),
        STATEFULSET(StatefulSet.class, null, "sts"),
        DAEMONSET(DaemonSet.class, null, "ds"),
        JOB(Job.class, null, "job"),
        CRONJOB(CronJob.class, Job.class, "cj"),
        REPLICATIONCONTROLLER(ReplicationController.class, null, "rc");

        private final Class<? extends HasMetadata> type;
        private final @Nullable Class<? extends HasMetadata> between;
        private final String shortName;

        Type(
                Class<? extends HasMetadata> type,
                @Nullable Class<? extends HasMetadata> between,
                String shortName) {
            this.type = type;
            this.between = between;
            this.shortName = shortName;
        }

        /**
         * As people write it, for instance {@code deployments}, {@code Deployment.apps}, {@code
         * deploy}.
         */
        private boolean isCalled(String text) {
            String word = text.toLowerCase(Locale.ROOT).replaceFirst("[.].*", "");
            String own = name().toLowerCase(Locale.ROOT);
            return word.equals(own) || word.equals(own + "s") || word.equals(shortName);
        }
    }

    /** Words for a pod itself. */
    private static final Set<String> PODS = Set.of("pod", "pods", "po");

    /** What a person means: the name of a pod, or a workload. */
    sealed interface Named {

        /** A pod of this name. */
        record APod(String name) implements Named {}

        /** What makes pods. */
        record Maker(Workload workload) implements Named {}
    }

    /**
     * Reads a name.
     *
     * @param text of a pod, or a kind and a name joined by a slash
     * @throws Failure if the kind is none that makes pods
     */
    static Named named(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            return new Named.APod(text);
        }
        String kind = text.substring(0, slash);
        String name = text.substring(slash + 1);
        if (PODS.contains(kind.toLowerCase(Locale.ROOT))) {
            return new Named.APod(name);
        }
        return Arrays.stream(Type.values())
                .filter(it -> it.isCalled(kind))
                .findFirst()
                .<Named>map(it -> new Named.Maker(new Workload(it, name)))
                .orElseThrow(() ->
                        new Failure(
                                "%s is no kind that is known to make pods here; use pod, %s"
                                        .formatted(
                                                kind,
                                                String.join(
                                                        ", ",
                                                        Arrays.stream(Type.values())
                                                                .map(it ->
                                                                        it.name()
                                                                                .toLowerCase(
                                                                                        Locale
                                                                                                .ROOT))
                                                                .toList()))));
    }

    /**
     * What there is of it.
     *
     * @param makers UIDs of the objects that make its pods, its own among them
     * @param pods by name
     */
    record Found(Set<String> makers, List<Pod> pods) {}

    /**
     * Asks the API server for it.
     *
     * @throws Failure if there is none
     */
    Found find(Cluster cluster, String namespace) {
        HasMetadata object =
                cluster.ask(
                        "get",
                        Kind.WORKLOADS,
                        client ->
                                client.resources(kind.type)
                                        .inNamespace(namespace)
                                        .withName(name)
                                        .get());
        if (object == null) {
            throw new Failure(
                    "There is no %s %s in %s"
                            .formatted(kind.name().toLowerCase(Locale.ROOT), name, namespace));
        }
        String own = object.getMetadata().getUid();
        Set<String> makers =
                Stream.concat(
                                Stream.of(own),
                                between(cluster, namespace)
                                        .filter(it -> isControlledBy(it, Set.of(own)))
                                        .map(it -> it.getMetadata().getUid()))
                        .collect(toSet());
        List<Pod> pods =
                cluster
                        .ask(
                                "list",
                                Kind.PODS_OF_A_NAMESPACE,
                                client -> client.pods().inNamespace(namespace).list().getItems())
                        .stream()
                        .filter(pod -> isControlledBy(pod, makers))
                        .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
                        .toList();
        return new Found(makers, pods);
    }

    private Stream<? extends HasMetadata> between(Cluster cluster, String namespace) {
        Class<? extends HasMetadata> between = kind.between;
        if (between == null) {
            return Stream.empty();
        }
        return cluster
                .ask(
                        "list",
                        Kind.WORKLOADS,
                        client ->
                                client.resources(between).inNamespace(namespace).list().getItems())
                .stream();
    }

    private static boolean isControlledBy(HasMetadata object, Set<String> owners) {
        return object.getMetadata().getOwnerReferences().stream()
                .filter(it -> Boolean.TRUE.equals(it.getController()))
                .map(OwnerReference::getUid)
                .anyMatch(owners::contains);
    }
}
