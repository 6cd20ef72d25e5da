package io.gpusharing.timekeeper.usage.intake;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.timekeeper.usage.Counters;
import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Merges reports into the counters of measured use. Pure: what is stored and what came in, out
 * comes what to store.
 *
 * <p>Nobody can have used more than time allows: of each GPU no more than has passed since the pod
 * was bound, over all runs of a meter together, and of all of them no more than that for each GPU
 * the pod holds. A report beyond that is refused whole, and nothing is clamped.
 */
final class CounterMerge {

    /** Devices of a pod that holds fewer GPUs: one whose GPU was exchanged has seen two. */
    private static final int MAX_DEVICES = 16;

    private static final Duration AN_HOUR = Duration.ofHours(1);

    /** No GPU has so much memory: 1 TiB. */
    private static final long MAX_MEMORY = 1L << 40;

    private final UsageProperties properties;
    private final Map<UUID, Map<Counters.Key, Counters>> known = new HashMap<>();
    private final Map<Counters.Key, Counters> changed = new TreeMap<>();

    /**
     * @param stored all counters of all pods of the batch
     */
    CounterMerge(Collection<Counters> stored, UsageProperties properties) {
        this.properties = properties;
        stored.forEach(this::put);
    }

    /** Merges the report, or says why not; then nothing of it is merged. */
    Optional<Refused> add(Delivery delivery) {
        List<Counters> reported = delivery.counters().toList();
        for (Counters counters : reported) {
            String wrong = impossible(counters);
            if (wrong != null) {
                return refuse(Refusal.IMPOSSIBLE_AMOUNT, counters.key(), wrong);
            }
            Counters before = of(counters.key().pod()).get(counters.key());
            if (before != null && before.contradicts(counters)) {
                return refuse(
                        Refusal.COUNTERS_FELL,
                        counters.key(),
                        "a counter fell between reports %d and %d"
                                .formatted(
                                        Math.min(before.sequence(), counters.sequence()),
                                        Math.max(before.sequence(), counters.sequence())));
            }
        }
        if (delivery.report().meter() == Meter.Sidecar) {
            for (ReportingPod pod : delivery.pods().values()) {
                Optional<Refused> refused = excessive(pod, delivery, reported);
                if (refused.isPresent()) {
                    return refused;
                }
            }
        }
        Map<UUID, List<Counters>> merged =
                reported.stream().map(this::merged).collect(groupingBy(it -> it.key().pod()));
        for (ReportingPod pod : delivery.pods().values()) {
            String wrong = impossible(pod, delivery, merged.getOrDefault(pod.uid(), List.of()));
            if (wrong != null) {
                return Optional.of(
                        new Refused(Refusal.IMPOSSIBLE_AMOUNT, "pod " + pod.uid() + ": " + wrong));
            }
        }
        for (List<Counters> ofPod : merged.values()) {
            ofPod.forEach(this::put);
            ofPod.forEach(it -> changed.put(it.key(), it));
        }
        return Optional.empty();
    }

    /** What has to be written, in the order of its keys. */
    Collection<Counters> changed() {
        return changed.values();
    }

    /** Whether a node agent measures the sidecar's pod now, so that it need not. */
    boolean heartbeatIsEnough(Delivery delivery) {
        return delivery.report().meter() == Meter.Sidecar
                && of(delivery.reporter().pod()).values().stream()
                        .filter(it -> it.key().meter() == Meter.Agent)
                        .filter(it -> it.basis() != Basis.Allocation)
                        .anyMatch(it ->
                                it.lastAt().plus(properties.agentFresh()).isAfter(delivery.at()));
    }

    /** A sidecar stands on the tenant's ground, so what it may make us store is bounded. */
    private Optional<Refused> excessive(
            ReportingPod pod, Delivery delivery, List<Counters> reported) {
        List<Counters.Key> before =
                of(pod.uid()).keySet().stream()
                        .filter(key -> key.meter() == Meter.Sidecar)
                        .toList();
        int mostDevices = Math.max(MAX_DEVICES, pod.gpus());
        long devices =
                Stream.concat(before.stream(), reported.stream().map(Counters::key))
                        .map(Counters.Key::device)
                        .distinct()
                        .count();
        if (devices > mostDevices) {
            return Optional.of(
                    new Refused(
                            Refusal.TOO_MANY_DEVICES,
                            "pod %s cannot have used %d devices; %d at most"
                                    .formatted(pod.uid(), devices, mostDevices)));
        }
        UUID run = delivery.report().run();
        if (before.stream().anyMatch(key -> key.run().equals(run))) {
            return Optional.empty();
        }
        Instant since = delivery.at().minus(AN_HOUR);
        long runs =
                of(pod.uid()).values().stream()
                        .filter(it -> it.key().meter() == Meter.Sidecar)
                        .filter(it -> it.lastAt().isAfter(since))
                        .map(it -> it.key().run())
                        .distinct()
                        .count();
        return runs < properties.maxRuns()
                ? Optional.empty()
                : Optional.of(
                        new Refused(
                                Refusal.TOO_MANY_RUNS,
                                "the meter of pod %s has begun %d times within an hour"
                                        .formatted(pod.uid(), runs)));
    }

    private @Nullable String impossible(Counters reported) {
        if (reported.gpuMicroseconds() > reported.coveredMicroseconds() + tolerance()) {
            return "it was busy for longer than was measured";
        }
        if (reported.basis() == Basis.Allocation && reported.gpuMicroseconds() > 0) {
            return "busy time is reported, and that nothing was measured";
        }
        return null;
    }

    /**
     * @param reported the pod's reported counters, as they stand after that
     */
    private @Nullable String impossible(
            ReportingPod pod, Delivery delivery, List<Counters> reported) {
        Meter meter = delivery.report().meter();
        var after = new ArrayList<>(reported);
        for (Counters stored : of(pod.uid()).values()) {
            if (stored.key().meter() == meter
                    && reported.stream().noneMatch(it -> it.key().equals(stored.key()))) {
                after.add(stored);
            }
        }
        Duration alive = Duration.between(pod.since(), delivery.at());
        long most = alive.isNegative() ? tolerance() : micros(alive) + tolerance();

        Map<String, Long> wall = new HashMap<>();
        long busy = 0;
        for (Counters counters : after) {
            long lived = sum(counters.coveredMicroseconds(), counters.uncoveredMicroseconds());
            if (wall.merge(counters.key().device(), lived, CounterMerge::sum) > most) {
                return "%s was watched for longer than the pod is bound"
                        .formatted(counters.key().device());
            }
            if (counters.memoryByteSeconds() / MAX_MEMORY > most / 1_000_000) {
                return "%s has no such memory".formatted(counters.key().device());
            }
            busy = sum(busy, counters.gpuMicroseconds());
        }
        return busy / Math.max(1, pod.gpus()) > most
                ? "%d GPUs cannot have been busy for so long".formatted(pod.gpus())
                : null;
    }

    private void put(Counters counters) {
        known.computeIfAbsent(counters.key().pod(), pod -> new HashMap<>())
                .put(counters.key(), counters);
    }

    private Counters merged(Counters reported) {
        Counters before = of(reported.key().pod()).get(reported.key());
        return before == null ? reported : before.merge(reported);
    }

    private Map<Counters.Key, Counters> of(UUID pod) {
        return known.getOrDefault(pod, Map.of());
    }

    private static Optional<Refused> refuse(Refusal refusal, Counters.Key key, String wrong) {
        return Optional.of(
                new Refused(refusal, "pod %s, %s: %s".formatted(key.pod(), key.device(), wrong)));
    }

    private long tolerance() {
        return micros(properties.tolerance());
    }

    private static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }

    /** A sum of hostile numbers that cannot wrap. */
    private static long sum(long one, long other) {
        long sum = one + other;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }
}
