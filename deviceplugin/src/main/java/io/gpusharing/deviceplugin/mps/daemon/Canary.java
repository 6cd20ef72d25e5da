package io.gpusharing.deviceplugin.mps.daemon;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gpusharing.deviceplugin.mps.GpuFolder;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A client that tries whether work gets done on a shared GPU. Where a client was killed in the
 * midst of its work, new ones may hang in their first call, while the daemon answers every command.
 *
 * @param program the client
 * @param most how long it may take; 0.4 s was measured
 * @param places for those that run at the same time: a start of the device plugin has every shared
 *     GPU checked, and each check takes 135 MiB
 */
record Canary(MpsProgram program, Duration most, Semaphore places) {

    private static final int AT_THE_SAME_TIME = 4;

    /** What is told of an end in other words than ours. */
    private static final int LONGEST = 200;

    /**
     * Answers of a server that works, by CUDA's numbers: the GPU has no memory left, and it has as
     * many clients as it takes.
     */
    private static final List<Integer> FULL = List.of(2, 808);

    /**
     * CUDA_ERROR_DEVICE_UNAVAILABLE. Driver 580 says so of a server that has as many clients as it
     * takes, and of a GPU that another process has for itself.
     */
    private static final int UNAVAILABLE = 46;

    private static final Pattern ANSWERED = Pattern.compile("\\w+ answered (\\d+)");

    /** How it went. */
    sealed interface Result {
        /** Work gets done. */
        record Worked() implements Result {}

        /** The GPU takes nobody: all its clients' places are taken, or it does not work. */
        record Unavailable(String reason) implements Result {}

        /** It does not, for this reason. */
        record Failed(String reason) implements Result {}

        /**
         * Nobody tried, by a failure of our own: there was no memory for a client, for instance.
         */
        record Unknown(String reason) implements Result {}
    }

    /** {@link CheckClient}, by the Java and the classes of this program. */
    static Canary ofThisProgram(MpsProgram driver, Duration most) {
        List<String> command =
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx16m",
                        "-Xshare:auto",
                        // The file system is read-only, and what can be written is small.
                        "-XX:-UsePerfData",
                        "-XX:+ErrorFileToStdout",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CheckClient.class.getName());
        return new Canary(
                new MpsProgram(command, driver.environment()),
                most,
                new Semaphore(AT_THE_SAME_TIME));
    }

    /** Lets it try. */
    Result run(GpuFolder gpu) {
        try {
            places.acquire();
        } catch (InterruptedException e) {
            return ending();
        }
        try {
            return tried(gpu);
        } finally {
            places.release();
        }
    }

    private static Result ending() {
        Thread.currentThread().interrupt();
        return new Result.Unknown("this program is ending");
    }

    private Result tried(GpuFolder gpu) {
        Process process;
        try {
            ProcessBuilder builder = program.process(gpu);
            // The daemon has this one alone; without it the client would try the node's first GPU.
            builder.environment().put("CUDA_VISIBLE_DEVICES", gpu.gpu());
            process = builder.start();
        } catch (IOException e) {
            return new Result.Unknown("the check cannot be started: " + e.getMessage());
        }
        CompletableFuture<String> said = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try (InputStream out = process.getInputStream()) {
                said.complete(new String(out.readNBytes(4096), ISO_8859_1).strip());
            } catch (IOException e) {
                said.completeExceptionally(e);
            }
        });
        try {
            if (!process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS)) {
                return new Result.Failed(
                        "a new client got nothing done in %d s".formatted(most.toSeconds()));
            }
            String text = said.get(1, TimeUnit.SECONDS);
            return judged(text, process.exitValue());
        } catch (TimeoutException | ExecutionException e) {
            return new Result.Unknown("the check ended and said nothing");
        } catch (InterruptedException e) {
            return ending();
        } finally {
            // A client that hangs in the driver may outlive this for a while.
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static Result judged(String text, int code) {
        Matcher matcher = ANSWERED.matcher(text);
        int answer = matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
        if (code == 0 || FULL.contains(answer)) {
            return new Result.Worked();
        }
        if (code != CheckClient.FAILED) {
            return new Result.Unknown(
                    "the check ended with %d: %s"
                            .formatted(code, text.substring(0, Math.min(text.length(), LONGEST))));
        }
        String reason = "a new client failed: %s (it ended with %d)".formatted(text, code);
        return answer == UNAVAILABLE ? new Result.Unavailable(reason) : new Result.Failed(reason);
    }
}
