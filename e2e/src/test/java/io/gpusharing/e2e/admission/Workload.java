package io.gpusharing.e2e.admission;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.stream.Stream;

/**
 * An object from which a controller creates pods, one of each kind, and idle: it creates none.
 *
 * @param manifest the object
 * @param template where its pod template stands, as a change in YAML with a hole for the template
 * @param harmless a change in YAML that leaves the template alone
 */
record Workload(ObjectNode manifest, String template, String harmless) {

    /** Between a whole GPU and two. */
    static final String ILLEGAL = "{tencent.com/vcuda-core: 150}";

    static final String LEGAL = "{tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 15}";

    /** All kinds under one name, with a container that has these limits. */
    static Stream<Workload> all(String name, String limits) {
        String replicas = "replicas: 0, selector: {matchLabels: {of: %s}}, ".formatted(name);
        String serves = template(name, limits, "");
        String nowhere = template(name, limits, "nodeSelector: {nowhere: at-all}, ");
        String runsOnce = template(name, limits, "restartPolicy: Never, ");
        String scaled = "{spec: {replicas: 0, minReadySeconds: 1}}";
        return Stream.of(
                in("apps/v1", "Deployment", name, replicas + "template: " + serves, scaled),
                in("apps/v1", "ReplicaSet", name, replicas + "template: " + serves, scaled),
                in(
                        "apps/v1",
                        "StatefulSet",
                        name,
                        "serviceName: s, " + replicas + "template: " + serves,
                        scaled),
                in(
                        "apps/v1",
                        "DaemonSet",
                        name,
                        "selector: {matchLabels: {of: %s}}, template: ".formatted(name) + nowhere,
                        "{spec: {minReadySeconds: 1}}"),
                in(
                        "v1",
                        "ReplicationController",
                        name,
                        "replicas: 0, selector: {of: %s}, template: ".formatted(name) + serves,
                        scaled),
                in(
                        "batch/v1",
                        "Job",
                        name,
                        "suspend: true, template: " + runsOnce,
                        "{spec: {parallelism: 3}}"),
                workload(
                        "batch/v1",
                        "CronJob",
                        name,
                        "spec: {suspend: true, schedule: '0 0 1 1 *', jobTemplate: {spec: {template: %s}}}"
                                .formatted(runsOnce),
                        "{spec: {jobTemplate: {spec: {template: %s}}}}",
                        "{spec: {schedule: '0 0 2 2 *'}}"),
                workload(
                        "v1",
                        "PodTemplate",
                        name,
                        "template: " + serves,
                        "{template: %s}",
                        "{metadata: {labels: {by: hand}}}"));
    }

    String kind() {
        return manifest.path("kind").asText();
    }

    /** Where it lies in a namespace. */
    String in(String namespace) {
        return Api.collection(namespace, manifest.path("apiVersion").asText(), kind())
                + "/"
                + manifest.path("metadata").path("name").asText();
    }

    /** A change of the template that every kind allows, and that changes nothing it asks for. */
    String changedTemplate() {
        return template.formatted("{metadata: {annotations: {changed: 'yes'}}}");
    }

    @Override
    public String toString() {
        return kind();
    }

    private static Workload in(
            String version, String kind, String name, String spec, String harmless) {
        return workload(
                version, kind, name, "spec: {" + spec + "}", "{spec: {template: %s}}", harmless);
    }

    private static Workload workload(
            String version,
            String kind,
            String name,
            String content,
            String template,
            String harmless) {
        return new Workload(
                Api.yaml(
                        "{apiVersion: %s, kind: %s, metadata: {name: %s}, %s}"
                                .formatted(version, kind, name, content)),
                template,
                harmless);
    }

    private static String template(String name, String limits, String more) {
        return "{metadata: {labels: {of: %s}}, spec: {%scontainers: [{name: cuda, image: cuda, resources: {limits: %s}}]}}"
                .formatted(name, more, limits);
    }
}
