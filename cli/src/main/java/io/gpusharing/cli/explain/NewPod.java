package io.gpusharing.cli.explain;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.DryRun;
import io.gpusharing.cli.cluster.DryRun.Admitted;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.NewPodRules;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A pod that somebody would create.
 *
 * @param json as the API server admits it, or as it is written
 * @param isAdmitted whether it is the former
 */
record NewPod(PodTemplate template, String namespace, JsonNode json, boolean isAdmitted) {

    /** All of them: which ones a site takes only the site knows. */
    static final RequestGrammars GRAMMARS = RequestGrammars.of(RequestGrammars.names(), List.of());

    private static final NewPodRules RULES = new NewPodRules(GRAMMARS);

    private static final KubernetesSerialization SERIALIZATION =
            new KubernetesSerialization(
                    ApiServerJson.mapper()
                            .changeDefaultNullHandling(
                                    _ -> JsonSetter.Value.construct(Nulls.SKIP, Nulls.SKIP))
                            .build(),
                    false);

    /** What decides about price and place. Environments and commands are nobody's business. */
    private static final Set<String> OF_A_SPEC =
            Set.of(
                    "activeDeadlineSeconds",
                    "affinity",
                    "containers",
                    "hostIPC",
                    "initContainers",
                    "nodeSelector",
                    "overhead",
                    "preemptionPolicy",
                    "priority",
                    "priorityClassName",
                    "resourceClaims",
                    "resources",
                    "schedulingGates",
                    "tolerations",
                    "topologySpreadConstraints");

    private static final Set<String> OF_A_CONTAINER =
            Set.of("name", "ports", "resources", "restartPolicy", "volumeMounts");

    /** No annotation that somebody reads for a price or a place is longer. */
    private static final int LONGEST_ANNOTATION = 1024;

    /**
     * Has the API server admit a pod; nothing is created.
     *
     * @throws Failure in the words of whoever refused it
     */
    static NewPod of(Cluster cluster, String namespace, PodTemplate template, Console console) {
        ObjectNode written = template.pod(namespace);
        Optional<Admitted> admitted = DryRun.create(cluster, namespace, written);
        if (admitted.isEmpty()) {
            console.note(
                    "You may not create pods in %s, so this is about the pod as it is written: defaults, quotas and admission are not the API server's; ask whoever administers the namespace for the role edit or admin there"
                            .formatted(namespace));
            return new NewPod(template, namespace, written, false);
        }
        admitted.get().warnings().forEach(warning -> console.note("Warning: " + warning));
        return new NewPod(template, namespace, admitted.get().pod(), true);
    }

    /** As far as the timekeeper needs it, under the name that the user has given. */
    ObjectNode asked() {
        var asked = (ObjectNode) json.deepCopy();
        asked.retain("apiVersion", "kind", "spec");
        ObjectNode metadata = asked.putObject("metadata").put("name", template.name());
        ObjectNode annotations = metadata.putObject("annotations");
        json.at("/metadata/annotations")
                .forEachEntry((key, value) -> {
                    if (value.asString("").length() <= LONGEST_ANNOTATION) {
                        annotations.set(key, value);
                    }
                });
        if (asked.path("spec") instanceof ObjectNode spec) {
            spec.retain(OF_A_SPEC);
            for (String containers : List.of("containers", "initContainers")) {
                for (JsonNode container : spec.path(containers)) {
                    if (container instanceof ObjectNode it) {
                        it.retain(OF_A_CONTAINER);
                    }
                }
            }
        }
        return asked;
    }

    /** What it asks for; whoever has admitted it has checked that. */
    PodRequest request() {
        Pod pod = pod();
        try {
            if (!isAdmitted) {
                RULES.requireLegal(pod.getSpec(), template.path());
            }
            return ResourceReader.request(pod.getSpec(), GRAMMARS::reads);
        } catch (IllegalArgumentException e) {
            throw new Failure(String.valueOf(e.getMessage()));
        }
    }

    /** What it asks for of one resource, whether that is legal or not. */
    PodRequest request(String resource) {
        return ResourceReader.request(pod().getSpec(), resource::equals);
    }

    boolean hasClaims() {
        return !json.at("/spec/resourceClaims").isEmpty();
    }

    private Pod pod() {
        try {
            return SERIALIZATION.convertValue(asked(), Pod.class);
        } catch (RuntimeException e) {
            // The client and its parser have a kind each.
            throw new Failure(
                    "%sspec cannot be read: %s".formatted(template.path(), e.getMessage()));
        }
    }
}
