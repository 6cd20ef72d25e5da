package io.gpusharing.e2e.recording;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Keeps every version of every pod that a watch of the whole cluster brings, as the API server sent
 * it. When the API server goes away it watches on from the last version it has seen.
 */
final class Recorder implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final TestCluster cluster;
    private final List<Version> versions = new CopyOnWriteArrayList<>();
    private final Thread thread;
    private volatile @Nullable Process watch;
    private volatile boolean open = true;

    Recorder(TestCluster cluster) {
        this.cluster = cluster;
        String now = resourceVersionOfNow();
        this.thread = Thread.ofPlatform().name("recorder").start(() -> record(now));
    }

    /** All versions of a life's pods so far, in the order they came. */
    List<Version> of(String life) {
        return versions.stream().filter(version -> version.life().equals(life)).toList();
    }

    private void record(String from) {
        String last = from;
        while (open) {
            Process current = watchFrom(last);
            watch = current;
            try (BufferedReader lines = current.inputReader(StandardCharsets.UTF_8)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    Instant at = Instant.now();
                    JsonNode event = JSON.readTree(line);
                    String type = event.path("type").asText();
                    if (type.equals("ERROR")) {
                        // An API server that was restarted does not know the versions before.
                        last = list();
                    } else {
                        var version = new Version(at, type, event.path("object"));
                        last = version.resourceVersion();
                        versions.add(version);
                    }
                }
                Thread.sleep(200);
            } catch (IOException e) {
                // An API server that was killed may have sent half a line: watch on from the last.
                System.out.println("the watch broke off: " + e.getMessage());
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Keeps what is there now and was not seen yet, as an informer does that lists again. */
    private String list() throws IOException {
        JsonNode list = JSON.readTree(get("/api/v1/pods"));
        for (JsonNode pod : list.path("items")) {
            var version = new Version(Instant.now(), "LISTED", pod);
            if (versions.stream()
                    .noneMatch(it -> it.resourceVersion().equals(version.resourceVersion()))) {
                versions.add(version);
            }
        }
        return list.at("/metadata/resourceVersion").asText();
    }

    private String resourceVersionOfNow() {
        try {
            return JSON.readTree(get("/api/v1/pods?limit=1"))
                    .at("/metadata/resourceVersion")
                    .asText();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String get(String path) {
        return cluster.kubectl().run("get", "--raw", path).orFail();
    }

    private Process watchFrom(String resourceVersion) {
        try {
            return new ProcessBuilder(
                            Repository.tool("kubectl").toString(),
                            "--kubeconfig=" + cluster.kubeconfig(),
                            "get",
                            "--raw",
                            "/api/v1/pods?watch=true&timeoutSeconds=3600&resourceVersion="
                                    + resourceVersion)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("kubectl cannot be run", e);
        }
    }

    @Override
    public void close() {
        open = false;
        Process current = watch;
        if (current != null) {
            current.destroy();
        }
        thread.interrupt();
    }
}
