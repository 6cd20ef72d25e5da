package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.preemption.RunningPod.Stamps;
import io.gpusharing.sharing.Sharing;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pod of a test, on a node.
 *
 * @param gpus the indexes of the node's GPUs that it has, of each the same; null if nobody knows
 * @param cores hundredths of each GPU; 100 is all of it; 0 if it has none
 * @param memory MiB of each GPU
 * @param sharing how it shares them where its node serves that
 * @param stamps what admission and administrators have written on it
 */
record ToyPod(
        String name,
        String node,
        @Nullable List<Integer> gpus,
        int cores,
        int memory,
        int cpu,
        int priority,
        Instant started,
        @Nullable Instant deletion,
        String gang,
        Map<String, String> labels,
        Sharing sharing,
        Stamps stamps) {

    static final Instant NOON = Instant.parse("2026-11-25T12:00:00Z");

    /** One of low priority that runs for an hour and has a part of one GPU. */
    static ToyPod part(String name, String node, int gpu, int cores) {
        return new ToyPod(
                name,
                node,
                List.of(gpu),
                cores,
                100,
                1,
                -100,
                NOON.minus(Duration.ofHours(1)),
                null,
                name,
                Map.of(),
                Sharing.TIME_SLICES,
                new Stamps(true, false, false));
    }

    /** One that has these GPUs to itself. */
    static ToyPod whole(String name, String node, Integer... gpus) {
        return part(name, node, 0, 100).on(List.of(gpus));
    }

    /** One that asks for no GPU. */
    static ToyPod plain(String name, String node, int cpu) {
        return part(name, node, 0, 0)
                .on(List.of())
                .cpu(cpu)
                .stamped(new Stamps(false, false, false));
    }

    ToyPod on(@Nullable List<Integer> now) {
        return new ToyPod(
                name, node, now, cores, memory, cpu, priority, started, deletion, gang, labels,
                sharing, stamps);
    }

    ToyPod memory(int now) {
        return new ToyPod(
                name, node, gpus, cores, now, cpu, priority, started, deletion, gang, labels,
                sharing, stamps);
    }

    ToyPod cpu(int now) {
        return new ToyPod(
                name, node, gpus, cores, memory, now, priority, started, deletion, gang, labels,
                sharing, stamps);
    }

    ToyPod priority(int now) {
        return new ToyPod(
                name, node, gpus, cores, memory, cpu, now, started, deletion, gang, labels, sharing,
                stamps);
    }

    ToyPod minutesOld(int minutes) {
        return new ToyPod(
                name,
                node,
                gpus,
                cores,
                memory,
                cpu,
                priority,
                NOON.minus(Duration.ofMinutes(minutes)),
                deletion,
                gang,
                labels,
                sharing,
                stamps);
    }

    ToyPod deleted(Duration endsIn) {
        return new ToyPod(
                name,
                node,
                gpus,
                cores,
                memory,
                cpu,
                priority,
                started,
                NOON.plus(endsIn),
                gang,
                labels,
                sharing,
                stamps);
    }

    ToyPod gang(String now) {
        return new ToyPod(
                name, node, gpus, cores, memory, cpu, priority, started, deletion, now, labels,
                sharing, stamps);
    }

    ToyPod label(String key, String value) {
        return new ToyPod(
                name,
                node,
                gpus,
                cores,
                memory,
                cpu,
                priority,
                started,
                deletion,
                gang,
                Map.of(key, value),
                sharing,
                stamps);
    }

    ToyPod shared(Sharing now) {
        return new ToyPod(
                name, node, gpus, cores, memory, cpu, priority, started, deletion, gang, labels,
                now, stamps);
    }

    /** Its budget was used up when it was admitted. */
    ToyPod admittedOverBudget() {
        return stamped(new Stamps(true, true, false));
    }

    /** An administrator has said so. */
    ToyPod doNotReclaim() {
        return stamped(new Stamps(stamps.metered(), stamps.overBudget(), true));
    }

    private ToyPod stamped(Stamps now) {
        return new ToyPod(
                name, node, gpus, cores, memory, cpu, priority, started, deletion, gang, labels,
                sharing, now);
    }

    boolean isWhole() {
        return cores == 100;
    }

    RunningPod running() {
        return new RunningPod(
                name,
                "team-a",
                name,
                labels,
                priority,
                started,
                deletion,
                Duration.ofSeconds(30),
                gang,
                stamps,
                null);
    }
}
