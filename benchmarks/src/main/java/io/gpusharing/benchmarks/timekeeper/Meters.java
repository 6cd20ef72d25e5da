package io.gpusharing.benchmarks.timekeeper;

import io.gpusharing.benchmarks.timekeeper.ReportLoad.Meter;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/** What sidecars and node agents report. */
final class Meters {

    private Meters() {}

    /** A sidecar reports its pod and one GPU. */
    record Sidecar(MeteredPod pod, String token, UUID run) implements Meter {

        /** The same after a restart: its token is known, its counters begin again at zero. */
        Sidecar restarted() {
            return new Sidecar(pod, token, UUID.randomUUID());
        }

        @Override
        public String body(long sequence, long elapsedMicros) {
            return "{\"run\":\"%s\",\"sequence\":%d,\"meter\":\"Sidecar\",\"pods\":[%s]}"
                    .formatted(run, sequence, ofPod(pod, elapsedMicros));
        }
    }

    /** An agent reports all pods of its node, one GPU each. */
    record Agent(int node, String token, UUID run, List<MeteredPod> pods) implements Meter {

        /** The same after a restart. */
        Agent restarted() {
            return new Agent(node, token, UUID.randomUUID(), pods);
        }

        @Override
        public String body(long sequence, long elapsedMicros) {
            var text = new StringBuilder(pods.size() * 320);
            text.append("{\"run\":\"")
                    .append(run)
                    .append("\",\"sequence\":")
                    .append(sequence)
                    .append(",\"meter\":\"Agent\",\"pods\":[");
            for (int i = 0; i < pods.size(); i++) {
                text.append(i == 0 ? "" : ",").append(ofPod(pods.get(i), elapsedMicros));
            }
            return text.append("]}").toString();
        }
    }

    static List<Sidecar> sidecars(Tokens tokens, List<MeteredPod> pods) {
        return pods.stream()
                .map(pod -> new Sidecar(pod, tokens.ofSidecar(pod), UUID.randomUUID()))
                .toList();
    }

    static List<Agent> agents(Tokens tokens, List<MeteredPod> pods) {
        return IntStream.range(0, MeteredPod.NODES)
                .mapToObj(node ->
                        new Agent(
                                node,
                                tokens.ofAgent(node),
                                UUID.randomUUID(),
                                pods.stream()
                                        .filter(pod -> pod.node().equals("node-" + node))
                                        .toList()))
                .toList();
    }

    private static String ofPod(MeteredPod pod, long elapsedMicros) {
        return "{\"uid\":\""
                + pod.uid()
                + "\",\"devices\":[{\"uuid\":\"GPU-1f2e3d4c-0000-0000-0000-"
                + String.format("%012d", pod.number())
                + "\",\"basis\":\"Process\",\"basisReason\":\"\",\"gpuMicroseconds\":"
                + elapsedMicros / 2
                + ",\"memoryByteSeconds\":"
                + elapsedMicros * 1000
                + ",\"coveredMicroseconds\":"
                + elapsedMicros
                + ",\"uncoveredMicroseconds\":0}]}";
    }
}
