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
 * counter comes from here. Runs under the meter's lock, and allocates for new processes alone.
 */
final class ProcessTable {

    private static final Comparator<GpuProcess> MOST_MEMORY_FIRST =
            Comparator.comparingLong(GpuProcess::memoryBytes)
                    .reversed()
                    .thenComparingLong(GpuProcess::pid);

    private final String uuid;
    private final Viewpoint view;
    private final List<Entry> entries = new ArrayList<>();

    private static final class Entry {
        final long pid;
        final String podUid;
        String command = "";
        long memoryBytes;
        int busyPercent = -1;
        boolean listed;

        /** Since the last list: of so many readings, what its rows add up to. */
        long percents;

        int readings;

        Entry(long pid, String podUid) {
            this.pid = pid;
            this.podUid = podUid;
        }
    }

    ProcessTable(String uuid, Viewpoint view) {
        this.uuid = uuid;
        this.view = view;
    }

    /** The device was listed again. */
    void list(ProcessList list, long now) {
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
        entry.busyPercent = entry.readings == 0 ? -1 : average(entry);
        entry.percents = 0;
        entry.readings = 0;
    }

    private static int average(Entry entry) {
        return Math.toIntExact((entry.percents + entry.readings / 2) / entry.readings);
    }

    /** How busy each was since the last reading, where its rows can be trusted. */
    void note(DeviceReading reading) {
        for (int i = 0; i < entries.size(); i++) {
            entries.get(i).readings++;
        }
        for (int i = 0; i < reading.rows.count; i++) {
            Entry entry = entry(reading.rows.pid[i]);
            if (entry != null) {
                entry.percents += reading.rows.sm[i];
            }
        }
    }

    /** Nothing is known any more. */
    void clear() {
        entries.clear();
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
