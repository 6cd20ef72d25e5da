package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.budget.Quote.Stage;
import io.gpusharing.budget.Quote.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How many pods a manifest makes, as the controllers of Kubernetes read it, and how long they may
 * run.
 *
 * @param pods in all
 * @param atOnce how many of them at most
 * @param longestPod {@code activeDeadlineSeconds} of a pod; null if it has none
 * @param longest the same of a {@code Job}, for all of its pods
 */
public record Replicas(
        int pods, int atOnce, @Nullable Duration longestPod, @Nullable Duration longest) {

    /** What an {@code int32} of Kubernetes holds. */
    private static final long MOST = Integer.MAX_VALUE;

    /**
     * Reads a manifest.
     *
     * @param manifest in maps and lists, of a kind of Kubernetes itself that makes pods
     * @throws IllegalArgumentException if it does not say how many; the message is for its author
     */
    public static Replicas of(Map<?, ?> manifest) {
        String kind = String.valueOf(manifest.get("kind"));
        Map<?, ?> spec = map(manifest.get("spec"));
        return switch (kind) {
            case "Job" -> ofJob(spec, "spec");
            case "CronJob" ->
                    ofJob(map(map(spec.get("jobTemplate")).get("spec")), "spec.jobTemplate.spec");
            case "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController" -> {
                int replicas = number(spec, "spec", "replicas").orElse(1);
                yield new Replicas(replicas, replicas, null, null);
            }
            case "Pod" -> new Replicas(1, 1, deadline(spec, "spec"), null);
            case "DaemonSet" ->
                    throw new IllegalArgumentException(
                            "kind is DaemonSet, which makes a pod on each node that it selects; use a Pod with its template");
            default -> new Replicas(1, 1, null, null);
        };
    }

    /**
     * As many pods of this one, which says itself how long it may run.
     *
     * @throws IllegalArgumentException if there cannot be so many, or it may not run so long
     */
    public Replicas of(Pod pod) {
        Long seconds = pod.getSpec().getActiveDeadlineSeconds();
        if (seconds != null && (seconds < 0 || seconds > MOST)) {
            throw new IllegalArgumentException(
                    "spec.activeDeadlineSeconds is %d; use a whole number, 0 or more"
                            .formatted(seconds));
        }
        if (atOnce < Math.min(1, pods) || atOnce < 0 || atOnce > pods) {
            throw new IllegalArgumentException(
                    "%d of %d pods cannot run at once; use 1 or more, and no more than there are"
                            .formatted(atOnce, pods));
        }
        if (longest != null && longest.isNegative()) {
            throw new IllegalArgumentException(
                    "activeDeadlineSeconds is %d; use a whole number, 0 or more"
                            .formatted(longest.toSeconds()));
        }
        return new Replicas(
                pods, atOnce, seconds == null ? longestPod : Duration.ofSeconds(seconds), longest);
    }

    /** Without completions any pod's success ends it, and so there are as many as at once. */
    private static Replicas ofJob(Map<?, ?> spec, String where) {
        int parallelism = number(spec, where, "parallelism").orElse(1);
        int completions = number(spec, where, "completions").orElse(parallelism);
        return new Replicas(
                parallelism == 0 ? 0 : completions,
                Math.min(parallelism, completions),
                deadline(map(map(spec.get("template")).get("spec")), where + ".template.spec"),
                deadline(spec, where));
    }

    /**
     * The work that it is.
     *
     * @param each how long each pod runs; null for as long as it may
     */
    public Work work(@Nullable Duration each) {
        Duration one = shorter(each, longestPod);
        var stages = new ArrayList<Stage>();
        if (one != null && atOnce > 0) {
            add(stages, atOnce, one.multipliedBy(pods / atOnce));
            add(stages, pods % atOnce, one);
        } else if (longest != null && atOnce > 0) {
            add(stages, atOnce, longest);
        }
        return new Work(pods, atOnce, stages);
    }

    /** No longer than all of it may take. */
    private void add(List<Stage> stages, int count, Duration length) {
        Duration before = stages.stream().map(Stage::length).reduce(Duration.ZERO, Duration::plus);
        Duration left = longest == null ? length : shorter(length, longest.minus(before));
        if (count > 0 && left != null && left.isPositive()) {
            stages.add(new Stage(count, left));
        }
    }

    /** Null is as long as it likes. */
    private static @Nullable Duration shorter(@Nullable Duration one, @Nullable Duration other) {
        if (one == null) {
            return other;
        }
        return other == null || one.compareTo(other) <= 0 ? one : other;
    }

    private static @Nullable Duration deadline(Map<?, ?> spec, String where) {
        Optional<Integer> seconds = number(spec, where, "activeDeadlineSeconds");
        return seconds.map(Duration::ofSeconds).orElse(null);
    }

    private static Optional<Integer> number(Map<?, ?> spec, String where, String field) {
        Object found = spec.get(field);
        if (found == null) {
            return Optional.empty();
        }
        if (found instanceof Number number
                && List.of(Integer.class, Long.class).contains(number.getClass())
                && number.longValue() >= 0
                && number.longValue() <= MOST) {
            return Optional.of(number.intValue());
        }
        throw new IllegalArgumentException(
                "%s.%s is %s; use a whole number, 0 or more".formatted(where, field, found));
    }

    private static Map<?, ?> map(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? map : Map.of();
    }
}
