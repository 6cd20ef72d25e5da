package io.gpusharing.deviceplugin.gpu;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the driver's errors mean for whoever wants to start on the GPU next.
 *
 * <p>Sources: the Xid Catalog in NVIDIA's documentation (docs.nvidia.com/deploy/xid-errors,
 * "Analyzing Xid Errors with the Xid Catalog", Ampere and newer), column "immediate action"; and
 * NVIDIA's own device plugin (k8s-device-plugin, internal/rm/health.go).
 */
final class Xids {

    /** Ignored by NVIDIA's device plugin: errors of the program that was running. */
    private static final Set<Long> OF_NVIDIAS_PLUGIN = Set.of(13L, 31L, 43L, 45L, 68L, 109L);

    /**
     * The Catalog's action is to restart the program, or none at all. A tenant can provoke many of
     * them, so they must not take the GPU from its neighbours. Among them are 63, a row of memory
     * that will be replaced at the next reset, and 94, an error in memory that hit one program
     * only: NVIDIA lets new work begin after both. Where memory lost data, 48 comes as well.
     */
    private static final Set<Long> OF_THE_CATALOG =
            Stream.of(
                            LongStream.of(8, 11, 14, 25, 32, 37, 38, 39, 40, 41, 44, 60, 63, 66),
                            LongStream.of(67, 69, 70, 71, 72, 75, 76, 77, 80, 82, 83, 84, 85, 86),
                            LongStream.of(88, 89, 92, 93, 94, 121, 137, 139, 141, 152, 153, 157),
                            LongStream.of(160, 161),
                            LongStream.rangeClosed(96, 108),
                            LongStream.rangeClosed(126, 135))
                    .flatMap(LongStream::boxed)
                    .collect(Collectors.toUnmodifiableSet());

    /** None of the GPU's fault: they change nothing. */
    static final Set<Long> IGNORED =
            Stream.of(OF_NVIDIAS_PLUGIN, OF_THE_CATALOG)
                    .flatMap(Set::stream)
                    .collect(Collectors.toUnmodifiableSet());

    /**
     * The Catalog's action is to reset the GPU or to restart the machine; of 48 and 74 it says the
     * same in its text.
     */
    static final Set<Long> NEEDING_RESET =
            Set.of(
                    46L, 48L, 62L, 64L, 74L, 79L, 95L, 110L, 119L, 120L, 136L, 140L, 143L, 151L,
                    156L, 158L);

    private static final Map<Long, String> MEANINGS =
            Map.ofEntries(
                    entry(13L, "an exception in a program's kernel"),
                    entry(31L, "a program's access to memory that is not mapped"),
                    entry(43L, "a program stopped by its own fault"),
                    entry(45L, "a program's channels removed"),
                    entry(46L, "the GPU has stopped processing"),
                    entry(48L, "an error in its memory that ECC could not correct"),
                    entry(54L, "its auxiliary power is not connected"),
                    entry(62L, "its micro-controller has halted"),
                    entry(63L, "a row of its memory will be replaced at the next reset"),
                    entry(64L, "a row of its memory could not be replaced"),
                    entry(68L, "an exception in the video decoder"),
                    entry(74L, "an NVLink error"),
                    entry(79L, "it has fallen off the bus"),
                    entry(92L, "a high rate of errors in its memory that ECC corrects"),
                    entry(94L, "an error in its memory that hit one program only"),
                    entry(95L, "an error in its memory that may have hit any program"),
                    entry(109L, "a context switch took too long"),
                    entry(110L, "a security fault"),
                    entry(119L, "its system processor (GSP) does not answer"),
                    entry(120L, "an error in its system processor (GSP)"),
                    entry(136L, "its link could not be trained"),
                    entry(140L, "an error in its memory that the driver could not contain"),
                    entry(143L, "it could not be initialised"),
                    entry(154L, "the driver wants it drained, reset or rebooted"),
                    entry(158L, "it does not answer in time"));

    private Xids() {}

    /**
     * What an error means for the GPU; null if nothing. Numbers that nobody knows call for care.
     */
    static @Nullable Fault fault(long xid) {
        if (IGNORED.contains(xid)) {
            return null;
        }
        return new Fault(words(xid), NEEDING_RESET.contains(xid) ? Cure.RESET : Cure.CHECK);
    }

    /** The number, and what it means where we can say so shortly. */
    static String words(long xid) {
        String meaning = MEANINGS.get(xid);
        return meaning == null ? "XID " + xid : "XID %d (%s)".formatted(xid, meaning);
    }
}
