package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.nvml.GpuInventory;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.PhysicalGpu;
import java.time.Duration;
import java.util.List;

/**
 * What pods do on the GPUs of {@code tools/e2e-gpu}: on real ones ({@code GPU=real}) the tests'
 * CUDA program, on fake ones ({@code GPU=fake}) processes whose words the fake NVML takes for work.
 */
final class GpuWork {

    /** The program with a shell and glibc ({@code images/gpu-program}). */
    static final String IMAGE = "localhost/gpu-program:1";

    /** Why a test is for real GPUs only. */
    static final String FAKES_COMPUTE_NOTHING = "a fake GPU computes nothing";

    /** The driver samples every 200 ms; what is in step with it can hide. */
    private static final int PERIOD_MILLIS = 130;

    private static final ObjectMapper JSON = new ObjectMapper();

    private GpuWork() {}

    static boolean real() {
        return "real".equals(System.getenv("GPU"));
    }

    /**
     * The node's GPUs, by the word of NVML alone.
     *
     * @throws AssertionError if it does not answer, or there is none that can be handed out
     */
    static List<PhysicalGpu> gpus() {
        NvmlLibrary library = NvmlLibrary.open(null);
        if (!(library instanceof NvmlLibrary.Found found)) {
            throw new AssertionError(library);
        }
        var nvml = new Nvml(found.symbols());
        assertThat(nvml.init()).isEqualTo(NvmlReturn.SUCCESS);
        try {
            GpuInventory inventory = GpuInventory.read(nvml);
            if (!(inventory instanceof GpuInventory.Listed listed)) {
                throw new AssertionError(inventory);
            }
            assertThat(listed.unreadable()).isEmpty();
            assertThat(listed.gpus())
                    .as("GPUs, of which none is split by MIG")
                    .isNotEmpty()
                    .noneMatch(PhysicalGpu::mig);
            return listed.gpus();
        } finally {
            nvml.shutdown();
        }
    }

    /** A pod whose container is not started again. */
    static ObjectNode pod(String name, String limits, String command) {
        ObjectNode pod = Api.yaml(GpuPods.manifest(name, limits));
        ((ObjectNode) pod.get("spec")).put("restartPolicy", "Never");
        ObjectNode container = (ObjectNode) pod.at("/spec/containers/0");
        container.put("image", IMAGE);
        ArrayNode words = container.putArray("command");
        List.of("sh", "-c", command).forEach(words::add);
        return pod;
    }

    /**
     * Computes a little, for an hour.
     *
     * @param mebibytes of the GPU's memory that it takes
     */
    static String holding(long mebibytes) {
        return real() ? "gpu-program hold 3600 " + mebibytes : pretended(1, mebibytes);
    }

    /**
     * Computes for a part of the time, for an hour.
     *
     * @param steps that take a kernel a millisecond, alone on the GPU
     * @param percent of the time
     */
    static String busy(long steps, int percent, long mebibytes) {
        return real()
                ? "gpu-program load %d %d %d 3600 %d"
                        .formatted(steps, percent, PERIOD_MILLIS, mebibytes)
                : pretended(percent, mebibytes);
    }

    private static String pretended(int percent, long mebibytes) {
        return "echo '{\"load\": %1$d, \"beat\": 0}'; exec sh -c 'while :; do sleep 1; done' gpu=0,busy=%1$d,memory=%2$d"
                .formatted(percent, mebibytes);
    }

    /** The newest line of the program that has a field, once there is one. */
    static JsonNode said(GpuPods pods, String pod, String field) {
        return await(pod + " says its " + field)
                .atMost(GpuPods.SOON)
                // Its container may not be there yet.
                .ignoreExceptions()
                .until(() -> lastWith(pods, pod, field), line -> line.has(field));
    }

    /** Waits until it computes on, where it computes at all. */
    static void awaitBeatAfter(GpuPods pods, String pod, JsonNode beat) {
        if (real()) {
            await(pod + " computes on")
                    .atMost(Duration.ofSeconds(30))
                    .until(
                            () -> lastWith(pods, pod, "beat").path("beat").asLong(),
                            it -> it > beat.path("beat").asLong());
        }
    }

    private static JsonNode lastWith(GpuPods pods, String pod, String field) {
        return pods.kubectl("logs", pod, "--container=cuda")
                .lines()
                .filter(line -> line.startsWith("{"))
                .map(GpuWork::parsed)
                .filter(line -> line.has(field))
                .reduce(JSON.createObjectNode(), (before, line) -> line);
    }

    private static JsonNode parsed(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new AssertionError(line, e);
        }
    }
}
