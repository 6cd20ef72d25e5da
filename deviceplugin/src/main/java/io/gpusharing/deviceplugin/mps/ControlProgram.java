package io.gpusharing.deviceplugin.mps;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gpusharing.deviceplugin.mps.Answer.Failed;
import io.gpusharing.deviceplugin.mps.Answer.Failure;
import io.gpusharing.deviceplugin.mps.Answer.Told;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One run of NVIDIA's control program for each command: in its turn, and within its time.
 *
 * @param most how long a command may take, and the wait for its turn
 */
record ControlProgram(MpsProgram program, GpuFolder folder, Duration most) {

    /** 48 clients fill 5 KiB. */
    private static final int LONGEST = 64 * 1024;

    private static final String REFUSED = "Insufficient privileges";
    private static final String UNKNOWN = "Unknown command";
    private static final String NO_DAEMON = "Cannot find MPS control daemon";

    /**
     * Tells the daemon a command.
     *
     * @return its words as they are, unless these say that it did not do it
     */
    Answer<String> tell(String command) {
        Optional<CommandTurn> taken;
        try {
            taken = CommandTurn.await(folder, most);
        } catch (InterruptedException e) {
            return ending(command);
        }
        if (taken.isEmpty()) {
            return failure(
                    Failure.Hanging,
                    command,
                    "other commands have kept it busy for %d s".formatted(most.toSeconds()));
        }
        try (CommandTurn _ = taken.get()) {
            return run(command);
        }
    }

    private Answer<String> ending(String command) {
        Thread.currentThread().interrupt();
        return failure(Failure.Hanging, command, "this program is ending");
    }

    private Answer<String> run(String command) {
        Process process;
        try {
            process = program.process(folder).start();
        } catch (IOException e) {
            return failure(
                    Failure.NoProgram,
                    command,
                    "%s cannot be started (%s). It belongs to NVIDIA's driver: NVIDIA_DRIVER_CAPABILITIES must name compute, or provider.driverRoot the driver's files"
                            .formatted(program.command().getFirst(), e.getMessage()));
        }
        try {
            return answer(command, process);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private Answer<String> answer(String command, Process process) {
        // What hangs in the program or in a child that has its output is given up with its thread.
        CompletableFuture<String> said = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try (OutputStream in = process.getOutputStream()) {
                in.write((command + "\n").getBytes(ISO_8859_1));
            } catch (IOException e) {
                // It has ended; its output says why.
            }
            try (InputStream out = process.getInputStream()) {
                said.complete(new String(out.readNBytes(LONGEST), ISO_8859_1).strip());
            } catch (IOException e) {
                said.completeExceptionally(e);
            }
        });
        long until = System.nanoTime() + most.toNanos();
        try {
            String text = said.get(most.toNanos(), TimeUnit.NANOSECONDS);
            if (!process.waitFor(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                return hanging(command);
            }
            return judged(command, text, process.exitValue());
        } catch (TimeoutException e) {
            return hanging(command);
        } catch (ExecutionException e) {
            return failure(
                    Failure.Died, command, "its output ended (%s)".formatted(e.getMessage()));
        } catch (InterruptedException e) {
            return ending(command);
        }
    }

    private Answer<String> hanging(String command) {
        return failure(Failure.Hanging, command, "no answer in %d s".formatted(most.toSeconds()));
    }

    private Answer<String> judged(String command, String said, int code) {
        if (said.contains(NO_DAEMON)) {
            return failure(Failure.NoDaemon, command, "there is none");
        }
        if (code != 0) {
            return failure(
                    Failure.Died,
                    command,
                    "the control program ended with %d and said \"%s\""
                            .formatted(code, brief(said)));
        }
        if (said.startsWith(REFUSED) || said.startsWith("Not enough privilege")) {
            return failure(Failure.Refused, command, "it refuses: " + brief(said));
        }
        return said.startsWith(UNKNOWN)
                ? failure(Failure.Nonsense, command, "answered \"%s\"".formatted(brief(said)))
                : new Told<>(said);
    }

    /** What is said of a command that failed. */
    <T> Answer<T> failure(Failure failure, String command, String what) {
        return new Failed<>(
                failure,
                "The MPS daemon of %s was told %s: %s".formatted(folder.gpu(), command, what));
    }

    /** An answer as far as it fits into a sentence. */
    static String brief(String said) {
        return said.length() > 200 ? said.substring(0, 200) + "…" : said;
    }
}
