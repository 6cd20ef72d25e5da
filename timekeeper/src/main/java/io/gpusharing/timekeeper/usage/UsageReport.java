package io.gpusharing.timekeeper.usage;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.PositiveOrZero;
import jakarta.validation.constraints.Size;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One usage report, as it comes over the wire. Counters are cumulative since the run began and
 * never fall.
 *
 * @param run names the run of counters; a new one begins at zero
 * @param sequence grows with each report of a run
 * @param unattributed busy time of GPUs that belongs to no pod; node agents only
 * @param unasked pods that use a GPU that they were not given; node agents only
 * @param exceeded pods that hold more memory of a GPU than they were given; node agents only
 * @param running what runs on GPUs now; null where the meter does not tell it, as sidecars
 */
public record UsageReport(
        UUID run,
        @PositiveOrZero long sequence,
        Meter meter,
        List<@Valid PodUse> pods,
        @JsonSetter(nulls = Nulls.AS_EMPTY) List<@Valid Unattributed> unattributed,
        @JsonSetter(nulls = Nulls.AS_EMPTY) List<@Valid Unasked> unasked,
        @JsonSetter(nulls = Nulls.AS_EMPTY) List<@Valid MemoryExceeded> exceeded,
        @JsonSetter(nulls = Nulls.SET) @Valid @Nullable Running running) {

    private static final String DEVICE = "\\p{Alnum}[\\w.:/-]{0,95}";
    private static final String NAME = "[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?";

    /** Who measures. */
    public enum Meter {
        Sidecar,
        Agent
    }

    /** How a number was found, best first. */
    public enum Basis {
        /** Exact, per process. */
        Process,
        /** The whole of a GPU that is the pod's alone. */
        Device,
        /** A GPU's use, split over those who share it. */
        DeviceSplit,
        /** Not measured. */
        Allocation
    }

    /** What one pod did since the run began. */
    public record PodUse(UUID uid, List<@Valid DeviceUse> devices) {}

    /**
     * What one pod did on one GPU since the run began.
     *
     * @param basisReason why no better basis; empty for the best
     * @param gpuMicroseconds busy time, in microseconds of the whole GPU
     * @param atMostMicroseconds the most that it can have been, where others on the GPU computed,
     *     too; null where an older meter does not tell it, of which only {@link Basis#Device} is
     *     certain
     * @param memoryByteSeconds device memory held, times how long
     * @param coveredMicroseconds wall time that was measured
     * @param uncoveredMicroseconds wall time that was not
     */
    public record DeviceUse(
            @Pattern(regexp = DEVICE, message = "is no name of a device") String uuid,
            Basis basis,
            @JsonSetter(nulls = Nulls.AS_EMPTY)
                    @Size(max = 256)
                    @Pattern(regexp = "\\P{Cntrl}*", message = "has control characters")
                    String basisReason,
            @PositiveOrZero long gpuMicroseconds,
            @JsonSetter(nulls = Nulls.SET) @PositiveOrZero @Nullable Long atMostMicroseconds,
            @PositiveOrZero long memoryByteSeconds,
            @PositiveOrZero long coveredMicroseconds,
            @PositiveOrZero long uncoveredMicroseconds) {

        /**
         * The most that the busy time can have been: no less than was counted, nor more than time.
         */
        public long atMost() {
            if (atMostMicroseconds == null && basis == Basis.Device) {
                return gpuMicroseconds;
            }
            long told = atMostMicroseconds == null ? coveredMicroseconds : atMostMicroseconds;
            return Math.max(gpuMicroseconds, Math.min(told, coveredMicroseconds));
        }
    }

    /** Busy time of a GPU that belongs to no pod. */
    public record Unattributed(
            @Pattern(regexp = DEVICE, message = "is no name of a device") String uuid,
            @PositiveOrZero long gpuMicroseconds) {}

    /**
     * A pod that uses a GPU that it was not given.
     *
     * @param devices those GPUs, where our device plugin gives them to pods and so knows; empty
     *     where the agent knows from the kubelet's table that it gave the pod none at all
     */
    public record Unasked(
            UUID uid,
            @Pattern(regexp = NAME, message = "is no name of Kubernetes") String namespace,
            @Pattern(regexp = NAME, message = "is no name of Kubernetes") String pod,
            @JsonSetter(nulls = Nulls.AS_EMPTY)
                    List<@Pattern(regexp = DEVICE, message = "is no name of a device") String>
                            devices) {}

    /**
     * A pod that holds more memory of a GPU than our device plugin gave it.
     *
     * @param usedBytes what all its processes hold there together
     */
    public record MemoryExceeded(
            UUID uid,
            @Pattern(regexp = NAME, message = "is no name of Kubernetes") String namespace,
            @Pattern(regexp = NAME, message = "is no name of Kubernetes") String pod,
            @Pattern(regexp = DEVICE, message = "is no name of a device") String device,
            @PositiveOrZero long usedBytes,
            @PositiveOrZero long grantedBytes) {}

    /**
     * What runs on the GPUs of a node now.
     *
     * @param whole whether that is known of all of them: then a pod that is not named runs nothing
     */
    public record Running(boolean whole, List<@Valid PodProcesses> pods) {}

    /**
     * The processes of a pod on one GPU, as of the report.
     *
     * @param index NVML's number of the GPU; null where it has none
     * @param grantedBytes memory that our device plugin gave the pod; null where it gave none in
     *     particular
     * @param count how many there are
     * @param processes those with most memory
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PodProcesses(
            UUID uid,
            @Pattern(regexp = DEVICE, message = "is no name of a device") String device,
            @JsonSetter(nulls = Nulls.SET) @PositiveOrZero @Nullable Integer index,
            @JsonSetter(nulls = Nulls.SET) @PositiveOrZero @Nullable Long grantedBytes,
            @PositiveOrZero int count,
            List<@Valid GpuProcess> processes) {}

    /**
     * One of them.
     *
     * @param pid its number on the node
     * @param command the kernel's name of it, which whoever runs it chooses; null where it is not
     *     told
     * @param memoryBytes null where the driver does not say it
     * @param busyPercent of the whole GPU, over some ten seconds; null where that is not measured
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record GpuProcess(
            @PositiveOrZero long pid,
            @JsonSetter(nulls = Nulls.SET) @Nullable String command,
            @JsonSetter(nulls = Nulls.SET) @PositiveOrZero @Nullable Long memoryBytes,
            @JsonSetter(nulls = Nulls.SET) @PositiveOrZero @Nullable Integer busyPercent) {

        private static final int LONGEST = 64;

        // The agent does the same. It is done again and not refused: an agent with another Unicode
        // takes other characters for unassigned, and no name may cost a node its counters.
        public GpuProcess {
            if (command != null) {
                command =
                        command.substring(0, Math.min(LONGEST, command.length()))
                                .replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
            }
        }
    }

    /**
     * 128 bits, equal for equal counters and findings, in whatever order pods and devices are
     * listed. What runs now is no part of it: no counter depends on that.
     */
    public UUID digest() {
        MessageDigest sha = sha256();
        add(sha, meter.name());
        pods.stream()
                .sorted(Comparator.comparing(PodUse::uid))
                .forEach(pod -> {
                    add(sha, pod.uid().toString());
                    pod.devices().stream()
                            .sorted(Comparator.comparing(DeviceUse::uuid))
                            .forEach(device -> add(sha, device));
                });
        unattributed.stream()
                .sorted(Comparator.comparing(Unattributed::uuid))
                .forEach(device -> {
                    add(sha, device.uuid());
                    add(sha, device.gpuMicroseconds());
                });
        unasked.stream()
                .sorted(Comparator.comparing(Unasked::uid))
                .forEach(pod -> {
                    add(sha, pod.uid().toString());
                    pod.devices().stream().sorted().forEach(device -> add(sha, device));
                });
        exceeded.stream()
                .sorted(
                        Comparator.comparing(MemoryExceeded::uid)
                                .thenComparing(MemoryExceeded::device))
                .forEach(pod -> {
                    add(sha, pod.uid().toString());
                    add(sha, pod.device());
                    add(sha, pod.usedBytes(), pod.grantedBytes());
                });
        ByteBuffer half = ByteBuffer.wrap(sha.digest());
        return new UUID(half.getLong(), half.getLong());
    }

    private static void add(MessageDigest sha, DeviceUse device) {
        add(sha, device.uuid());
        add(sha, device.basis().name());
        add(sha, device.basisReason());
        add(
                sha,
                device.gpuMicroseconds(),
                device.atMost(),
                device.memoryByteSeconds(),
                device.coveredMicroseconds(),
                device.uncoveredMicroseconds());
    }

    private static void add(MessageDigest sha, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        add(sha, bytes.length);
        sha.update(bytes);
    }

    private static void add(MessageDigest sha, long... numbers) {
        ByteBuffer buffer = ByteBuffer.allocate(Long.BYTES * numbers.length);
        for (long number : numbers) {
            buffer.putLong(number);
        }
        sha.update(buffer.array());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java runtime has SHA-256", e);
        }
    }
}
