package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Spec;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How far an eviction has come, for all who decide by it. */
class GpuEvictionTest {

    private static final Victim VICTIM =
            new Victim("team-a", "a", "uid-a", "gpu-1", null, null, null, "why", null, null, null);

    private static GpuEviction of(Cause cause, Phase phase, boolean settled) {
        boolean forSomebody = cause == Cause.Reclaim || cause == Cause.Preemption;
        GpuEviction eviction =
                GpuEvictions.of(
                        "x",
                        new Spec(
                                cause.name(),
                                "gpu-1",
                                List.of(VICTIM),
                                forSomebody ? waiter() : null,
                                forSomebody ? "2026-03-02T10:02:00Z" : null,
                                null));
        eviction.setStatus(status(phase, settled));
        return eviction;
    }

    private static Waiter waiter() {
        return new Waiter("team-b", "w", "uid-w", null, null, null);
    }

    private static @Nullable Status status(Phase phase, boolean settled) {
        return phase == Phase.Asked
                ? null
                : new Status(
                        phase.name(),
                        null,
                        null,
                        null,
                        null,
                        settled ? new Outcome(true, "it was bound", "2026-03-02T10:01:00Z") : null);
    }

    @ParameterizedTest(name = "{0} {1}, settled {2}")
    @CsvSource({
        // cause, phase, settled, open, pending, in vain
        "Reclaim, Asked, false, true, true, false",
        "Reclaim, Planned, false, true, false, false",
        "Reclaim, Refused, false, false, false, true",
        "Reclaim, Done, false, true, false, false",
        "Reclaim, Done, true, false, false, false",
        "Reclaim, NotDone, false, false, false, true",
        "Preemption, Done, false, true, false, false",
        "Preemption, NotDone, false, false, false, true",
        "RefusedStart, Refused, false, true, true, false",
        "RefusedStart, Done, false, false, false, false",
        "MemoryOveruse, Asked, false, true, true, false",
        "MemoryOveruse, Planned, false, true, false, false",
        "MemoryOveruse, Refused, false, true, true, false",
        "MemoryOveruse, NotDone, false, false, false, true",
    })
    void whatIsRefusedIsAskedForAgainWhereNobodyWaitsAndWhatIsDoneIsFollowedWhereSomebodyDoes(
            Cause cause,
            Phase phase,
            boolean settled,
            boolean open,
            boolean pending,
            boolean inVain) {
        GpuEviction eviction = of(cause, phase, settled);

        assertThat(eviction.isOpen()).as("open").isEqualTo(open);
        assertThat(eviction.isPending()).as("pending").isEqualTo(pending);
        assertThat(eviction.isInVain()).as("in vain").isEqualTo(inVain);
    }
}
