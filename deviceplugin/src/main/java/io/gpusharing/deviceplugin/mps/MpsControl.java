package io.gpusharing.deviceplugin.mps;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gpusharing.deviceplugin.mps.Answer.Failed;
import io.gpusharing.deviceplugin.mps.Answer.Failure;
import io.gpusharing.deviceplugin.mps.Answer.Told;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Tells the daemon of a GPU what to do, by NVIDIA's control program and nothing else. Each command
 * is answered within its time, whatever becomes of program and daemon.
 *
 * <p>The words of the answers are those of driver 580 (benchmarks/README.md, On a GPU).
 */
public final class MpsControl {

    /** Answers take 2 ms, and the end of a client 13. */
    public static final Duration USUAL = Duration.ofSeconds(5);

    /** 48 clients fill 5 KiB. */
    private static final int LONGEST = 64 * 1024;

    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,9}");
    private static final Pattern STATUS = Pattern.compile("[A-Z_]{1,32}");
    private static final Pattern LINES = Pattern.compile("\\s*\\R\\s*");

    private static final String REFUSED = "Insufficient privileges";
    private static final String UNKNOWN = "Unknown command";
    private static final String NO_DAEMON = "Cannot find MPS control daemon";

    /** CUDA_SUCCESS and CUDA_ERROR_INVALID_CONTEXT, as terminate_client answers them. */
    private static final String DONE = "0";

    private static final String NO_SUCH_CLIENT = "201";

    /** How a client was ended. */
    public enum Termination {
        /** Its next call fails with CUDA_ERROR_MPS_CLIENT_TERMINATED, and nobody else's does. */
        Terminated,
        /** There was none with this number. */
        Gone
    }

    private final MpsProgram program;
    private final GpuFolder folder;
    private final Duration most;
    private final Consumer<Failure> failed;

    /**
     * @param most how long an answer may take
     * @param failed told of every command that fails
     */
    public MpsControl(
            MpsProgram program, GpuFolder folder, Duration most, Consumer<Failure> failed) {
        this.program = program;
        this.folder = folder;
        this.most = most;
        this.failed = failed;
    }

    /** Numbers of the server processes; none before the first client. */
    public Answer<List<Long>> servers() {
        return numbers("get_server_list");
    }

    /** Numbers of a server's clients. */
    public Answer<List<Long>> clients(long server) {
        return numbers("get_client_list " + server);
    }

    /** Numbers of the clients of all servers. */
    public Answer<List<Long>> clients() {
        return servers()
                .then(servers -> {
                    var all = new ArrayList<Long>();
                    for (long server : servers) {
                        switch (clients(server)) {
                            case Told<List<Long>>(var some) -> all.addAll(some);
                            case Failed<List<Long>> failure -> {
                                return failure;
                            }
                        }
                    }
                    return new Told<>(List.copyOf(all));
                });
    }

    /** How a server is: {@code ACTIVE}, {@code INITIALIZING} or {@code FAULT}. */
    public Answer<String> status(long server) {
        return ask("get_server_status " + server, STATUS);
    }

    /** Ends a client, so that those beside it live. */
    public Answer<Termination> terminate(long server, long client) {
        String command = "terminate_client %d %d".formatted(server, client);
        return tell(command)
                .then(said ->
                        switch (said) {
                            case DONE -> new Told<>(Termination.Terminated);
                            case NO_SUCH_CLIENT -> new Told<>(Termination.Gone);
                            default -> nonsense(command, said);
                        });
    }

    /** Ends the daemon and its servers; clients have so long to go by themselves. */
    public Answer<String> quit(Duration grace) {
        return tell("quit -t " + grace.toSeconds());
    }

    private Answer<List<Long>> numbers(String command) {
        return tell(command)
                .then(said -> {
                    var numbers = new ArrayList<Long>();
                    for (String line : said.isEmpty() ? new String[0] : LINES.split(said, -1)) {
                        // A daemon in a process namespace of its own lists its clients as 0.
                        if (!NUMBER.matcher(line).matches()) {
                            return nonsense(command, said);
                        }
                        numbers.add(Long.parseLong(line));
                    }
                    return new Told<>(List.copyOf(numbers));
                });
    }

    private Answer<String> ask(String command, Pattern expected) {
        return tell(command)
                .then(said ->
                        expected.matcher(said).matches()
                                ? new Told<>(said)
                                : nonsense(command, said));
    }

    private <T> Answer<T> nonsense(String command, String said) {
        return failure(Failure.Nonsense, command, "answered \"%s\"".formatted(brief(said)));
    }

    private <T> Answer<T> failure(Failure failure, String command, String what) {
        failed.accept(failure);
        return new Failed<>(
                failure,
                "The MPS daemon of %s was told %s: %s".formatted(folder.gpu(), command, what));
    }

    private Answer<String> tell(String command) {
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
            Thread.currentThread().interrupt();
            return failure(Failure.Hanging, command, "this program is ending");
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
        return said.startsWith(UNKNOWN) ? nonsense(command, said) : new Told<>(said);
    }

    private static String brief(String said) {
        return said.length() > 200 ? said.substring(0, 200) + "…" : said;
    }
}
