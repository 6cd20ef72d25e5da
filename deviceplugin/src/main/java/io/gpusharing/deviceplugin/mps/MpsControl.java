package io.gpusharing.deviceplugin.mps;

import io.gpusharing.deviceplugin.mps.Answer.Failed;
import io.gpusharing.deviceplugin.mps.Answer.Failure;
import io.gpusharing.deviceplugin.mps.Answer.Told;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the daemon of a GPU what to do, by NVIDIA's control program and nothing else. Each command
 * is answered within its time, whatever becomes of program and daemon. A daemon is told one thing
 * at a time ({@link CommandTurn}); programs that are not ours may come between, so an answer that
 * is none is asked for again.
 *
 * <p>The words of the answers are those of driver 580 (benchmarks/README.md, On a GPU).
 */
public final class MpsControl {

    private static final Logger log = LoggerFactory.getLogger(MpsControl.class);

    /** Answers take 2 ms, and the end of a client 13. */
    public static final Duration USUAL = Duration.ofSeconds(5);

    private static final int TRIES = 3;

    /** Before the next try, by chance: two whose commands have collided must not meet again. */
    private static final long SHORTEST_PAUSE_MILLIS = 30;

    private static final long LONGEST_PAUSE_MILLIS = 250;

    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,9}");
    private static final Pattern STATUS = Pattern.compile("[A-Z_]{1,32}");
    private static final Pattern LINES = Pattern.compile("\\s*\\R\\s*");

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

    private final ControlProgram program;
    private final Consumer<Failure> failed;

    /**
     * @param most how long an answer may take, and the turn before it
     * @param failed told of every command that fails for good
     */
    public MpsControl(
            MpsProgram program, GpuFolder folder, Duration most, Consumer<Failure> failed) {
        this.program = new ControlProgram(program, folder, most);
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
        String command = "get_server_status " + server;
        return tell(
                command,
                said ->
                        STATUS.matcher(said).matches()
                                ? new Told<>(said)
                                : nonsense(command, said));
    }

    /** Ends a client, so that those beside it live. */
    public Answer<Termination> terminate(long server, long client) {
        String command = "terminate_client %d %d".formatted(server, client);
        return tell(
                command,
                said ->
                        switch (said) {
                            case DONE -> new Told<>(Termination.Terminated);
                            case NO_SUCH_CLIENT -> new Told<>(Termination.Gone);
                            default -> nonsense(command, said);
                        });
    }

    /**
     * Ends all clients that are among these; one that cannot be ended keeps none of the others from
     * it.
     *
     * @return how many there were, or what failed first
     */
    public Answer<Integer> terminate(Set<Long> pids) {
        return servers()
                .then(servers -> {
                    Answer<Integer> all = new Told<>(0);
                    for (long server : servers) {
                        all = sum(all, terminate(server, pids));
                    }
                    return all;
                });
    }

    private Answer<Integer> terminate(long server, Set<Long> pids) {
        return clients(server)
                .then(clients -> {
                    Answer<Integer> all = new Told<>(0);
                    for (long client : clients) {
                        if (pids.contains(client)) {
                            all = sum(all, terminate(server, client).then(how -> new Told<>(1)));
                        }
                    }
                    return all;
                });
    }

    private static Answer<Integer> sum(Answer<Integer> one, Answer<Integer> other) {
        return one.then(some -> other.then(more -> new Told<>(some + more)));
    }

    /** Ends the daemon and its servers; clients have so long to go by themselves. */
    public Answer<String> quit(Duration grace) {
        return tell("quit -t " + grace.toSeconds(), Told::new);
    }

    private Answer<List<Long>> numbers(String command) {
        return tell(
                command,
                said -> {
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

    private <T> Answer<T> nonsense(String command, String said) {
        return program.failure(
                Failure.Nonsense, command, "answered \"%s\"".formatted(ControlProgram.brief(said)));
    }

    /**
     * Tells a command, and tells it again if the answer cannot be understood: no command does harm
     * twice.
     *
     * @param meaning makes of the answer's words what they mean
     */
    private <T> Answer<T> tell(String command, Function<String, Answer<T>> meaning) {
        for (int tries = 1; ; tries++) {
            Answer<T> answer = program.tell(command).then(meaning);
            if (!(answer instanceof Failed<T>(var failure, String sentence))) {
                return answer;
            }
            if (tries == TRIES || !isWorthAnotherTry(failure) || !pause()) {
                failed.accept(failure);
                return answer;
            }
            log.atInfo().addKeyValue("reason", sentence).log("an MPS command is told again");
        }
    }

    private static boolean isWorthAnotherTry(Failure failure) {
        return switch (failure) {
            case Died, Nonsense -> true;
            case NoProgram, NoDaemon, Hanging, Refused -> false;
        };
    }

    /** Whether the pause is over, and not this program. */
    private static boolean pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(
                    ThreadLocalRandom.current()
                            .nextLong(SHORTEST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS));
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
