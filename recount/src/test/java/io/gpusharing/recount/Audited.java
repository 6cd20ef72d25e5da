package io.gpusharing.recount;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Lines as an API server writes them, of one cluster on the first of March from ten o'clock on. */
public final class Audited {

    public static final String UID = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    public static final String HALF = containers(limits(50, 15));

    /** Two GPUs with 60 blocks of memory each. */
    public static final String NODE =
            written(
                    "nodes",
                    "10:00:00",
                    """
                    {"kind": "Node", "metadata": {"name": "gpu-1", "uid": "n", "resourceVersion": "1"},
                     "status": {"capacity": {"tencent.com/vcuda-core": "200", "tencent.com/vcuda-memory": "120"}}}\
                    """);

    private Audited() {}

    /**
     * Half a GPU for twenty minutes on a GPU of 20 blocks of memory, of which it has three
     * quarters: it costs 500 000 if all GPUs of the node were alike, and 750 000 by its own.
     */
    public static AuditLog onSmallGpu() {
        String placed =
                ", \"annotations\": {\"gpusharing.io/placement\": \"%s;cuda=small\"}"
                        .formatted(UID);
        String named = HALF.replace("{\"res", "{\"name\": \"cuda\", \"res");
        String end = ", \"phase\": \"Succeeded\"" + terminated("containerStatuses", "10:20:00");
        return log(
                NODE,
                written(
                        "gpunodes",
                        "10:00:00",
                        """
                        {"kind": "GpuNode", "metadata": {"name": "gpu-1", "uid": "g"},
                         "status": {"gpus": [{"uuid": "small", "memoryMiB": 5120}]}}\
                        """),
                pod("10:00:00", 1, placed, named, ""),
                pod("10:20:00", 2, placed, named, end),
                alive("10:40:00"),
                alive("11:00:00"));
    }

    public static AuditLog log(String... lines) {
        String text =
                Stream.of(lines)
                        .map(line -> line.replace("\n", ""))
                        .collect(Collectors.joining("\n"));
        try {
            return AuditLog.read(
                    new BufferedReader(new StringReader(text)), Duration.ofMinutes(30));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A write that was answered with an object. */
    public static String written(String resource, String at, String answer) {
        return """
        {"stage": "ResponseComplete", "stageTimestamp": "%s", "requestURI": "/",
         "objectRef": {"resource": "%s"}, "responseStatus": {"code": 200}, "responseObject": %s}\
        """
                .formatted(time(at), resource, answer);
    }

    /** Anything that shows that the API server was there. */
    public static String alive(String at) {
        return written("leases", at, "{}");
    }

    /** The one pod on the node, scheduled at ten. */
    public static String pod(String at, int version, String metadata, String spec, String status) {
        return written("pods", at, object(version, metadata, spec, status));
    }

    public static String object(int version, String metadata, String spec, String status) {
        return """
        {"kind": "Pod", "metadata": {"name": "p", "namespace": "team-a", "uid": "%s", "resourceVersion": "%d",
          "creationTimestamp": "%s" %s},
         "spec": {"nodeName": "gpu-1", %s},
         "status": {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "%s"}] %s}}\
        """
                .formatted(
                        UID, version, time("10:00:00"), metadata, spec, time("10:00:00"), status);
    }

    public static String running(String spec) {
        return pod("10:00:00", 1, "", spec, "");
    }

    public static String ended(String spec, String at) {
        return pod(
                at,
                2,
                "",
                spec,
                ", \"phase\": \"Succeeded\"" + terminated("containerStatuses", at));
    }

    public static String terminated(String list, String... at) {
        return Stream.of(at)
                .map(it ->
                        "{\"state\": {\"terminated\": {\"finishedAt\": \"%s\"}}}"
                                .formatted(time(it)))
                .collect(Collectors.joining(", ", ", \"" + list + "\": [", "]"));
    }

    public static String containers(String... limits) {
        return "\"containers\": ["
                + Stream.of(limits).map(Audited::step).collect(Collectors.joining(", "))
                + "]";
    }

    public static String inits(String... containers) {
        return ", \"initContainers\": [" + String.join(", ", containers) + "]";
    }

    public static String step(String limits) {
        return "{\"resources\": {\"limits\": {" + limits + "}}}";
    }

    public static String sidecar(String limits) {
        return "{\"restartPolicy\": \"Always\", " + step(limits).substring(1);
    }

    public static String limits(int core, int memory) {
        return "\"tencent.com/vcuda-core\": \"%d\", \"tencent.com/vcuda-memory\": \"%d\""
                .formatted(core, memory);
    }

    public static String budget(String name, String share) {
        return written(
                "gpubudgets",
                "10:00:00",
                "{\"kind\": \"GpuBudget\", \"metadata\": {\"name\": \"%s\", \"uid\": \"b-%s\"}, \"spec\": {\"share\": %s}}"
                        .formatted(name, name, share));
    }

    /** A budget that names these. */
    public static String naming(
            String at, String name, String created, int generation, String... namespaces) {
        return written(
                "gpubudgets",
                at,
                """
                {"kind": "GpuBudget", "metadata": {"name": "%1$s", "uid": "%1$s-%2$s", "generation": %3$d,
                 "creationTimestamp": "%2$s"}, "spec": {"namespaces": [%4$s]}}\
                """
                        .formatted(
                                name,
                                time(created),
                                generation,
                                Stream.of(namespaces)
                                        .map(it -> "\"" + it + "\"")
                                        .collect(Collectors.joining(", "))));
    }

    private static String time(String at) {
        return "2026-03-01T" + at + "Z";
    }
}
