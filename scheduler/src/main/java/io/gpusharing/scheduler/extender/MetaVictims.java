package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.gpusharing.scheduler.preemption.RunningPod;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whom to evict from one node.
 *
 * @param violations how many of them go against a PodDisruptionBudget
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record MetaVictims(
        @JsonProperty("Pods") List<MetaPod> pods,
        @JsonProperty("NumPDBViolations") long violations) {

    @JsonIgnoreProperties(ignoreUnknown = true)
    record MetaPod(@JsonProperty("UID") String uid) {}

    MetaVictims(@Nullable List<MetaPod> pods, long violations) {
        this.pods = pods == null ? List.of() : List.copyOf(pods);
        this.violations = violations;
    }

    static MetaVictims of(List<RunningPod> victims, long violations) {
        return new MetaVictims(
                victims.stream().map(victim -> new MetaPod(victim.uid())).toList(), violations);
    }

    Set<String> uids() {
        return pods.stream().map(MetaPod::uid).collect(Collectors.toSet());
    }
}
