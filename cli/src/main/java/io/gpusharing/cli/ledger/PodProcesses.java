package io.gpusharing.cli.ledger;

import static java.util.Comparator.comparing;
import static java.util.Comparator.naturalOrder;
import static java.util.Comparator.nullsLast;
import static java.util.Comparator.reverseOrder;
import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a pod runs on the GPUs that it holds, as the ledger gives it. */
record PodProcesses(PodUsage.Metadata metadata, Status status) {

    static final Comparator<PodProcesses> BY_NAME =
            comparing((PodProcesses it) -> it.metadata().namespace())
                    .thenComparing(it -> it.metadata().name());

    /**
     * As the agent of its node has last said it.
     *
     * @param gpus processors that the pod holds, in GPUs
     * @param asOf null if no agent has said anything of it in the last minutes
     * @param devices those on which it runs something, and perhaps others
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Status(String node, String gpus, @Nullable Instant asOf, List<Device> devices) {

        Status {
            devices =
                    requireNonNullElse(devices, List.<Device>of()).stream()
                            .sorted(Device.BY_INDEX)
                            .toList();
        }
    }

    /**
     * A GPU, or a part of one that was split.
     *
     * @param index its number on the node; null where it is not known
     * @param grantedMiB what the pod may have of its memory; null where it has all, or nobody says
     * @param processCount how many there are, of which {@code processes} has those with most memory
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Device(
            String uuid,
            @Nullable Integer index,
            @Nullable Long grantedMiB,
            int processCount,
            List<Running> processes) {

        private static final Comparator<Device> BY_INDEX =
                comparing(Device::index, nullsLast(naturalOrder())).thenComparing(Device::uuid);

        Device {
            processes = requireNonNullElse(processes, List.of());
        }
    }

    /**
     * A process on one GPU.
     *
     * @param pid by the node's numbers
     * @param command null where the site does not tell it
     * @param busyPercent of the whole GPU, in the last seconds
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Running(
            int pid,
            @Nullable String command,
            @Nullable Long memoryMiB,
            @Nullable Integer busyPercent) {

        Running {
            // Tenants name their processes, and nothing they write may move a terminal.
            command = command == null ? null : command.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "");
        }
    }

    /**
     * A process on all GPUs on which it runs.
     *
     * @param memoryMiB null if it is not known of one of them, as {@code busyPercent}
     */
    record Total(
            int pid,
            @Nullable String command,
            List<Device> devices,
            @Nullable Long memoryMiB,
            @Nullable Integer busyPercent) {

        private static final Comparator<Total> MOST_MEMORY_FIRST =
                comparing(Total::memoryMiB, nullsLast(reverseOrder())).thenComparingInt(Total::pid);

        private Total with(Total other) {
            var both = new ArrayList<>(devices);
            both.addAll(other.devices);
            return new Total(
                    pid,
                    command,
                    both,
                    memoryMiB == null || other.memoryMiB == null
                            ? null
                            : Long.valueOf(memoryMiB + other.memoryMiB),
                    busyPercent == null || other.busyPercent == null
                            ? null
                            : Integer.valueOf(busyPercent + other.busyPercent));
        }
    }

    /** Each process once, whose memory is most first. */
    List<Total> processes() {
        var byPid = new TreeMap<Integer, Total>();
        for (Device device : status.devices()) {
            for (Running process : device.processes()) {
                byPid.merge(
                        process.pid(),
                        new Total(
                                process.pid(),
                                process.command(),
                                List.of(device),
                                process.memoryMiB(),
                                process.busyPercent()),
                        Total::with);
            }
        }
        return byPid.values().stream().sorted(Total.MOST_MEMORY_FIRST).toList();
    }
}
