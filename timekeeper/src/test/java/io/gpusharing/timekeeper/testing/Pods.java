package io.gpusharing.timekeeper.testing;

import io.gpusharing.kubernetes.Claimed;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodFacts.Lifecycle;
import io.gpusharing.kubernetes.PodFacts.Placement;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.wire.PlacementAnnotation;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A pod at some moment of its life, for tests.
 *
 * @param core hundredths of a GPU
 * @param memory blocks of 256 MiB
 */
public record Pods(
        UUID uid,
        String namespace,
        long core,
        long memory,
        @Nullable Instant scheduled,
        boolean terminal,
        @Nullable Instant finished,
        boolean running,
        @Nullable Instant disrupted,
        @Nullable Instant removal,
        @Nullable Instant written,
        Claimed claimed,
        String placement) {

    /** Where they all run: two GPUs of 60 blocks each. */
    public static final String NODE = "gpu-1";

    public static final NodeFacts NODE_FACTS =
            new NodeFacts(
                    Map.of(
                            VcudaGrammar.CORE, Quantity.of(200),
                            VcudaGrammar.MEMORY, Quantity.of(120)),
                    Map.of());

    private static final Instant CREATED = Instant.EPOCH;

    /** Waits to be scheduled. */
    public static Pods waiting(String namespace, long core, long memory) {
        return new Pods(
                UUID.randomUUID(),
                namespace,
                core,
                memory,
                null,
                false,
                null,
                false,
                null,
                null,
                null,
                Claimed.NONE,
                "");
    }

    /** Beside what it asks for, or instead of that. */
    public Pods holding(Claimed by) {
        return new Pods(
                uid, namespace, core, memory, scheduled, terminal, finished, running, disrupted,
                removal, written, by, placement);
    }

    /** Our scheduler has placed it on this GPU, or on these. */
    public Pods placedOn(String... gpus) {
        return new Pods(
                uid,
                namespace,
                core,
                memory,
                scheduled,
                terminal,
                finished,
                running,
                disrupted,
                removal,
                written,
                claimed,
                uid + ";cuda=" + String.join(",", gpus));
    }

    public Pods boundAt(Instant at) {
        return new Pods(
                uid, namespace, core, memory, at, false, null, true, null, null, at, claimed,
                placement);
    }

    public Pods finishedAt(Instant at) {
        return new Pods(
                uid, namespace, core, memory, scheduled, true, at, false, disrupted, removal, at,
                claimed, placement);
    }

    /** Its node is lost: nobody says when its containers ended. */
    public Pods lostAt(Instant at) {
        return new Pods(
                uid, namespace, core, memory, scheduled, true, null, true, at, removal, at, claimed,
                placement);
    }

    public Pods removedAt(Instant at) {
        return new Pods(
                uid, namespace, core, memory, scheduled, terminal, finished, running, disrupted, at,
                written, claimed, placement);
    }

    /** Whatever its status says, the API server notes that it was written then, or nothing. */
    public Pods writtenAt(@Nullable Instant at) {
        return new Pods(
                uid, namespace, core, memory, scheduled, terminal, finished, running, disrupted,
                removal, at, claimed, placement);
    }

    public PodFacts facts() {
        return facts(placement.isEmpty() ? Map.of() : Map.of(PlacementAnnotation.KEY, placement));
    }

    /**
     * @param annotations those that are read of it
     */
    public PodFacts facts(Map<String, String> annotations) {
        Map<String, Quantity> amounts =
                core == 0
                        ? Map.of()
                        : Map.of(
                                VcudaGrammar.CORE, Quantity.of(core),
                                VcudaGrammar.MEMORY, Quantity.of(memory));
        return new PodFacts(
                uid,
                namespace,
                "pod-" + uid,
                null,
                new PodRequest(List.of(new ContainerRequest("cuda", Kind.App, amounts, amounts))),
                claimed,
                annotations,
                new Placement(scheduled == null ? null : NODE, null, 0, false, null),
                new Lifecycle(
                        CREATED, scheduled, true, scheduled, terminal, finished, running, disrupted,
                        null, removal, written));
    }
}
