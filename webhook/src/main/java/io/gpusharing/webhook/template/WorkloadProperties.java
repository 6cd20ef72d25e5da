package io.gpusharing.webhook.template;

import io.gpusharing.webhook.settings.ConfigurationException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * Objects of operators that make pods, besides those of Kubernetes itself.
 *
 * @param kinds each kind once; the chart writes the rules of the webhook configuration from the
 *     same list
 */
@Validated
@ConfigurationProperties("gpusharing.workloads")
public record WorkloadProperties(@DefaultValue List<@Valid KindProperties> kinds) {

    /**
     * @param group API group, for instance {@code argoproj.io}
     * @param kind for instance {@code Workflow}
     * @param pods what of it becomes pods
     */
    public record KindProperties(
            @NotBlank String group,
            @NotBlank String kind,
            @NotEmpty List<@Valid PodsProperties> pods) {}

    /**
     * @param path to what becomes one pod, for instance {@code spec.templates[*]}
     * @param containers from there to its app containers
     * @param initContainers from there to its init containers
     */
    public record PodsProperties(
            @NotBlank String path,
            @DefaultValue("spec.containers[*]") List<String> containers,
            @DefaultValue("spec.initContainers[*]") List<String> initContainers) {}

    /**
     * The kinds of Kubernetes and these.
     *
     * @throws ConfigurationException if a path cannot be read or a kind is named twice
     */
    public PodTemplates templates() {
        try {
            return new PodTemplates(kinds.stream().map(WorkloadProperties::kind).toList());
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(
                    String.valueOf(e.getMessage()), "Correct gpusharing.workloads.kinds.");
        }
    }

    private static PodTemplates.Kind kind(KindProperties kind) {
        return new PodTemplates.Kind(
                kind.group(),
                kind.kind(),
                kind.pods().stream().map(WorkloadProperties::pods).toList());
    }

    private static PodTemplates.Pods pods(PodsProperties pods) {
        return new PodTemplates.Pods(
                TemplatePath.parse(pods.path()),
                paths(pods.containers()),
                paths(pods.initContainers()));
    }

    private static List<TemplatePath> paths(List<String> texts) {
        return texts.stream().map(TemplatePath::parse).toList();
    }
}
