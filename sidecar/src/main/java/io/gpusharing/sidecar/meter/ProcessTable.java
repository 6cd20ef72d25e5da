package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.ProcessList;
import io.gpusharing.sidecar.attribution.Owner;
import io.gpusharing.sidecar.attribution.Viewpoint;
import io.gpusharing.sidecar.usage.PodProcesses;
import io.gpusharing.sidecar.usage.PodProcesses.GpuProcess;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The processes of pods on one device as of its last list, for people who ask what runs there: no
 * counter comes from here. Runs under the meter's lock.
 */
final class ProcessTable {

    private static final Comparator<GpuProcess> MOST_MEMORY_FIRST =
            Comparator.comparingLong(GpuProcess::memoryBytes)
                    .reversed()
                    .thenComparingLong(GpuProcess::pid);

    /** What was listed longer ago may be different by now, for instance while a call hangs. */
    private static final long CURRENT_MICROS = 30_000_000;

    /** Over so long how busy a process is says something. */
    private static final long LONG_ENOUGH_MICROS = 5_000_000;

    private final String uuid;
    private final Viewpoint view;
    private final List<Entry> entries = new ArrayList<>();

    /** When the device was listed last, monotonic; {@link PodCounters#NEVER} if that failed. */
    private long listedMicros = PodCounters.NEVER;

    private static final class Entry {
        final long pid;
        final String podUid;
        String command = "";
        long memoryBytes;
        int busyPercent = -1;
        boolean listed;

        /** Since busyPercent was found: hundredths of a microsecond, in so many microseconds. */
        long busyHundredths;

        long watchedMicros;

        Entry(long pid, String podUid) {
            this.pid = pid;
            this.podUid = podUid;
        }
    }

    ProcessTable(String uuid, Viewpoint view) {
        this.uuid = uuid;
        this.view = view;
    }

    /** The device was listed again, and whose the processes are can be told from here. */
    void list(ProcessList list, long now) {
        listedMicros = now;
        for (int i = 0; i < entries.size(); i++) {
            entries.get(i).listed = false;
        }
        for (int i = 0; i < list.count; i++) {
            Owner owner = view.owner(list.pid[i], list, now);
            if (owner != null) {
                list(list.pid[i], owner.podUid(), Math.max(0, list.memory[i]));
            }
        }
        for (int i = entries.size() - 1; i >= 0; i--) {
            if (!entries.get(i).listed) {
                entries.remove(i);
            }
        }
    }

    private void list(long pid, String podUid, long memoryBytes) {
        Entry entry = entry(pid);
        if (entry == null || !entry.podUid.equals(podUid)) {
            entry = new Entry(pid, podUid);
            entries.add(entry);
        }
        entry.listed = true;
        entry.memoryBytes = memoryBytes;
        entry.command = view.command(pid);
        if (entry.watchedMicros >= LONG_ENOUGH_MICROS) {
            long half = entry.watchedMicros / 2;
            int percent = Math.toIntExact((entry.busyHundredths + half) / entry.watchedMicros);
            // Who was never caught beside others who compute may be in step with the sampling.
            entry.busyPercent = percent == 0 && othersCompute(podUid) ? -1 : percent;
            entry.busyHundredths = 0;
            entry.watchedMicros = 0;
        }
    }

    private boolean othersCompute(String podUid) {
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            if (!entry.podUid.equals(podUid)
                    && (entry.busyHundredths > 0 || entry.busyPercent > 0)) {
                return true;
            }
        }
        return false;
    }

    /**
     * How busy each was since the last reading: its part of what all were together, as it is
     * counted. The driver's percents by themselves add up to too much.
     *
     * @param busyHundredths of all rows, in hundredths of a microsecond
     */
    void note(DeviceReading reading, long busyHundredths) {
        long percents = 0;
        for (int i = 0; i < reading.rows.count; i++) {
            percents += reading.rows.sm[i];
        }
        for (int i = 0; i < entries.size(); i++) {
            entries.get(i).watchedMicros += reading.history.window();
        }
        for (int i = 0; i < reading.rows.count && percents > 0; i++) {
            Entry entry = entry(reading.rows.pid[i]);
            if (entry != null) {
                entry.busyHundredths += busyHundredths * reading.rows.sm[i] / percents;
            }
        }
    }

    /** How busy each is, cannot be told now. */
    void unwatched() {
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            entry.busyPercent = -1;
            entry.busyHundredths = 0;
            entry.watchedMicros = 0;
        }
    }

    /** What runs is not known any more. */
    void clear() {
        entries.clear();
        listedMicros = PodCounters.NEVER;
    }

    /** Whether it is known what runs there. */
    boolean isKnown(long now) {
        return now - listedMicros <= CURRENT_MICROS;
    }

    private @Nullable Entry entry(long pid) {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).pid == pid) {
                return entries.get(i);
            }
        }
        return null;
    }

    /** Pod by pod, of those that have a process here or were given the device. */
    List<PodProcesses> byPod(int index) {
        Map<String, List<GpuProcess>> pods = new LinkedHashMap<>();
        for (String allocated : view.allocated(uuid)) {
            pods.put(allocated, new ArrayList<>());
        }
        for (Entry entry : entries) {
            pods.computeIfAbsent(entry.podUid, uid -> new ArrayList<>())
                    .add(
                            new GpuProcess(
                                    entry.pid,
                                    entry.command,
                                    entry.memoryBytes,
                                    entry.busyPercent));
        }
        return pods.entrySet().stream()
                .map(pod ->
                        new PodProcesses(
                                pod.getKey(),
                                uuid,
                                index,
                                view.memoryGranted(pod.getKey(), uuid),
                                pod.getValue().size(),
                                pod.getValue().stream().sorted(MOST_MEMORY_FIRST).toList()))
                .toList();
    }
}
