package io.gpusharing.sidecar.report;

import io.gpusharing.sidecar.json.Json;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.PodName;
import io.gpusharing.sidecar.usage.Snapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What outlives a restart of the container: the run, its last sequence and the counters, in one
 * file that is replaced as a whole.
 */
public final class StateFile {

    private static final long VERSION = 1;

    private final Path directory;
    private final Path file;

    /**
     * @param directory writable, for instance an emptyDir
     */
    public StateFile(Path directory) {
        this.directory = directory;
        this.file = directory.resolve("meter.json");
    }

    /** What the file says. */
    public sealed interface Loaded {

        /** The counters of an earlier process. */
        record Found(State state) implements Loaded {}

        /** There is none: the first start. */
        record None() implements Loaded {}

        /** It cannot be used. */
        record Unusable(String reason) implements Loaded {}
    }

    /**
     * The state of a run.
     *
     * @param sequence the last that was given to a report
     */
    public record State(String run, long sequence, Snapshot snapshot) {}

    /** Reads the file. */
    public Loaded load() {
        try {
            return new Loaded.Found(decode(Files.readString(file)));
        } catch (NoSuchFileException e) {
            return new Loaded.None();
        } catch (IOException | IllegalArgumentException | ClassCastException e) {
            return new Loaded.Unusable(e.toString());
        }
    }

    /** Replaces the file: after a crash at any point either the old or the new one is there. */
    public void save(State state) throws IOException {
        replace(file, encode(state));
    }

    /** The CA that the timekeeper handed over, or null. */
    public @Nullable String loadCa() {
        try {
            return Files.readString(directory.resolve("ca.pem"));
        } catch (IOException e) {
            return null;
        }
    }

    /** Keeps the CA that the timekeeper handed over. */
    public void saveCa(String pem) throws IOException {
        replace(directory.resolve("ca.pem"), pem);
    }

    private void replace(Path target, String content) throws IOException {
        Path next = directory.resolve(target.getFileName() + ".next");
        try (FileChannel channel =
                FileChannel.open(
                        next,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        }
        // No fsync: an emptyDir does not outlive the machine's crash, and a rename is enough for
        // the crash of a process.
        Files.move(
                next, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    static String encode(State state) {
        Snapshot snapshot = state.snapshot();
        StringBuilder out = new StringBuilder(512);
        out.append("{\"version\":").append(VERSION).append(",\"run\":");
        Json.quote(out, state.run());
        out.append(",\"sequence\":").append(state.sequence()).append(",\"bootId\":");
        Json.quote(out, snapshot.bootId());
        out.append(",\"startedMicros\":").append(snapshot.startedMicros());
        out.append(",\"savedMicros\":").append(snapshot.savedMicros());
        out.append(",\"devices\":[");
        for (Snapshot.Device device : snapshot.devices()) {
            out.append(out.charAt(out.length() - 1) == '[' ? "{\"uuid\":" : ",{\"uuid\":");
            Json.quote(out, device.uuid());
            out.append(",\"settledMicros\":").append(device.settledMicros());
            out.append(",\"rowsFrom\":").append(device.rowsFrom());
            out.append(",\"unattributed\":").append(device.unattributedHundredths());
            out.append(",\"pods\":[");
            for (Snapshot.Pod pod : device.pods()) {
                out.append(out.charAt(out.length() - 1) == '[' ? "{\"uid\":" : ",{\"uid\":");
                Json.quote(out, pod.uid());
                if (pod.name() != null) {
                    out.append(",\"namespace\":");
                    Json.quote(out, pod.name().namespace());
                    out.append(",\"name\":");
                    Json.quote(out, pod.name().pod());
                }
                out.append(",\"measuredBy\":\"").append(pod.measuredBy().name()).append('"');
                out.append(",\"lastPresentMicros\":").append(pod.lastPresentMicros());
                busy(out, pod);
                out.append(",\"memory\":").append(pod.memoryByteSeconds());
                out.append(",\"covered\":").append(pod.coveredMicros());
                out.append(",\"uncovered\":").append(pod.uncoveredMicros());
                out.append(",\"doubtfulCovered\":").append(pod.doubtfulCovered());
                out.append(",\"doubtfulUncovered\":").append(pod.doubtfulUncovered()).append('}');
            }
            out.append("]}");
        }
        return out.append("]}").toString();
    }

    /** The sum as well, which is all that earlier agents read. */
    private static void busy(StringBuilder out, Snapshot.Pod pod) {
        long sum = pod.busyHundredths().values().stream().mapToLong(Long::longValue).sum();
        out.append(",\"busy\":").append(sum);
        out.append(",\"atMost\":").append(pod.atMostHundredths()).append(",\"busyBy\":{");
        pod.busyHundredths()
                .forEach((basis, busy) -> {
                    out.append(out.charAt(out.length() - 1) == '{' ? "\"" : ",\"");
                    out.append(basis.name()).append("\":").append(busy.longValue());
                });
        out.append('}');
    }

    /** What an earlier agent left says no more than by which basis it was counted last. */
    private static Map<Basis, Long> busy(Map<?, ?> pod, Basis measuredBy) {
        Map<Basis, Long> busy = new EnumMap<>(Basis.class);
        if (pod.get("busyBy") instanceof Map<?, ?> byBasis) {
            for (Object basis : byBasis.keySet()) {
                busy.put(
                        Basis.valueOf(String.valueOf(basis)),
                        counter(byBasis, String.valueOf(basis)));
            }
        } else {
            busy.put(measuredBy, counter(pod, "busy"));
        }
        return busy;
    }

    /** Of a GPU that others may have used an earlier agent did not say it. */
    private static long atMost(Map<?, ?> pod, Basis measuredBy) {
        if (pod.containsKey("atMost")) {
            return counter(pod, "atMost");
        }
        long busy = counter(pod, "busy");
        return measuredBy == Basis.DEVICE ? busy : Math.max(busy, 100 * counter(pod, "covered"));
    }

    private static @Nullable PodName name(Map<?, ?> pod) {
        return pod.containsKey("name")
                ? new PodName(string(pod, "namespace"), string(pod, "name"))
                : null;
    }

    static State decode(String text) {
        Map<?, ?> state = Json.parseObject(text);
        if (number(state, "version") != VERSION) {
            throw new IllegalArgumentException("it is of another version");
        }
        List<Snapshot.Device> devices = new ArrayList<>();
        for (Map<?, ?> device : objects(state, "devices")) {
            List<Snapshot.Pod> pods = new ArrayList<>();
            for (Map<?, ?> pod : objects(device, "pods")) {
                Basis measuredBy = Basis.valueOf(string(pod, "measuredBy"));
                pods.add(
                        new Snapshot.Pod(
                                string(pod, "uid"),
                                name(pod),
                                measuredBy,
                                number(pod, "lastPresentMicros"),
                                busy(pod, measuredBy),
                                atMost(pod, measuredBy),
                                counter(pod, "memory"),
                                counter(pod, "covered"),
                                counter(pod, "uncovered"),
                                pod.containsKey("doubtfulCovered")
                                        ? counter(pod, "doubtfulCovered")
                                        : 0,
                                pod.containsKey("doubtfulUncovered")
                                        ? counter(pod, "doubtfulUncovered")
                                        : 0));
            }
            devices.add(
                    new Snapshot.Device(
                            string(device, "uuid"),
                            number(device, "settledMicros"),
                            number(device, "rowsFrom"),
                            counter(device, "unattributed"),
                            pods));
        }
        return new State(
                string(state, "run"),
                counter(state, "sequence"),
                new Snapshot(
                        string(state, "bootId"),
                        number(state, "startedMicros"),
                        number(state, "savedMicros"),
                        devices));
    }

    private static long counter(Map<?, ?> object, String key) {
        long value = number(object, key);
        if (value < 0) {
            throw new IllegalArgumentException(key + " is negative");
        }
        return value;
    }

    private static long number(Map<?, ?> object, String key) {
        if (object.get(key) instanceof Long number) {
            return number;
        }
        throw new IllegalArgumentException(key + " is not a whole number");
    }

    private static String string(Map<?, ?> object, String key) {
        if (object.get(key) instanceof String string) {
            return string;
        }
        throw new IllegalArgumentException(key + " is not a string");
    }

    private static List<Map<?, ?>> objects(Map<?, ?> object, String key) {
        if (!(object.get(key) instanceof List<?> list)) {
            throw new IllegalArgumentException(key + " is not a list");
        }
        List<Map<?, ?>> objects = new ArrayList<>();
        for (Object item : list) {
            if (!(item instanceof Map<?, ?> map)) {
                throw new IllegalArgumentException(key + " holds more than objects");
            }
            objects.add(map);
        }
        return objects;
    }
}
