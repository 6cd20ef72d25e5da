package io.gpusharing.scheduler.pods;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.TopologySpreadConstraint;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What decides about a pod's place and is not known here, so that somebody would go for it in vain.
 * What is only preferred decides about nothing.
 */
public final class Unjudged {

    /** What is looked for in the words of a scheduler. */
    private static final List<String> WORDS =
            List.of("anti-affinity", "volume", "persistentvolumeclaim");

    private Unjudged() {}

    /** What it is, in words; null if sums, GPUs, labels and taints of nodes decide alone. */
    public static @Nullable String of(PodSpec spec) {
        if (dependsOnPods(spec.getAffinity())) {
            return "its place depends on other pods (affinity)";
        }
        if (requireNonNullElse(
                        spec.getTopologySpreadConstraints(), List.<TopologySpreadConstraint>of())
                .stream()
                .anyMatch(it -> "DoNotSchedule".equals(it.getWhenUnsatisfiable()))) {
            return "its place depends on other pods (topology spread)";
        }
        if (!isEmpty(spec.getResourceClaims())) {
            return "it has resource claims";
        }
        return Stream.of(spec.getContainers(), spec.getInitContainers())
                        .filter(Objects::nonNull)
                        .flatMap(List::stream)
                        .map(Container::getPorts)
                        .filter(Objects::nonNull)
                        .flatMap(List::stream)
                        .map(ContainerPort::getHostPort)
                        .anyMatch(port -> port != null && port > 0)
                ? "it wants ports of its node"
                : null;
    }

    /** The same by what its scheduler says of it, where the scheduler has not named the node. */
    public static @Nullable String of(String message) {
        if (message.contains("anti-affinity")) {
            return "its place depends on other pods (affinity)";
        }
        return message.contains("volume") || message.contains("persistentvolumeclaim")
                ? "the scheduler has objections because of a volume"
                : null;
    }

    /** As much of a scheduler's words as is read of them, which may be tens of thousands. */
    public static String inShort(String message) {
        return WORDS.stream().filter(message::contains).collect(Collectors.joining(" "));
    }

    private static boolean dependsOnPods(@Nullable Affinity affinity) {
        if (affinity == null) {
            return false;
        }
        var near = affinity.getPodAffinity();
        var far = affinity.getPodAntiAffinity();
        return (near != null && !isEmpty(near.getRequiredDuringSchedulingIgnoredDuringExecution()))
                || (far != null
                        && !isEmpty(far.getRequiredDuringSchedulingIgnoredDuringExecution()));
    }

    private static boolean isEmpty(@Nullable Collection<?> list) {
        return list == null || list.isEmpty();
    }
}
