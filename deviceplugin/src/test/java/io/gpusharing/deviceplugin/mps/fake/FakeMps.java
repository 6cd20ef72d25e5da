package io.gpusharing.deviceplugin.mps.fake;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * {@code nvidia-cuda-mps-control} and CUDA programs, for nodes without a GPU: as driver 580 was
 * seen to behave (benchmarks/README.md, On a GPU). It needs the JDK alone, so that one file of a
 * few classes can be put anywhere.
 *
 * <ul>
 *   <li>{@code -f}: the daemon. Its clients die with it, and all of them when one is killed while
 *       it works. Its server, a process that does nothing, outlives a daemon that is killed; then
 *       the next daemon's clients do not get at the GPU, as in the mode {@code EXCLUSIVE_PROCESS}.
 *   <li>without arguments: the control program; commands come by the standard input.
 *   <li>{@code client WORK SECONDS}: a CUDA program that tries something ({@code try}), sits there
 *       ({@code hold}) or works ({@code work}).
 * </ul>
 *
 * <p>What goes wrong stands in the file {@value #BEHAVIOUR} of the log directory, a word a line:
 * see {@link Behaviour}.
 */
public final class FakeMps {

    /** Beside the daemon's logs. */
    public static final String BEHAVIOUR = "behaviour";

    /** Beside it: the number of the server's process. */
    static final String SERVER = "server";

    private static final int MOST_CLIENTS = 48;
    private static final int TERMINATED = 3;

    /** What goes wrong. */
    public enum Behaviour {
        /** The daemon ends as soon as it is started. */
        NoStart,
        /** Commands are never answered. */
        CommandsHang,
        /** The control program is killed before it has answered. */
        CommandsDie,
        /** Answers are none that anybody knows. */
        CommandsNonsense,
        /** Whoever asks has no rights. */
        CommandsRefused,
        /** New clients get nothing done. */
        ClientsHang,
        /** New clients fail at once. */
        ClientsFail,
        /** New clients are told that another process has the GPU. */
        ClientsUnavailable,
        /** After a client was killed in its work new ones get nothing done. */
        WedgedByAKill
    }

    private FakeMps() {}

    /**
     * A program that behaves so, to be started under this name.
     *
     * @param folder where it is put
     */
    public static Path install(Path folder) throws IOException {
        Path classes =
                Path.of(
                        FakeMps.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .getPath());
        Path program = folder.resolve("nvidia-cuda-mps-control");
        Files.writeString(
                program,
                """
                #!/bin/sh
                exec '%s/bin/java' -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx16m -cp '%s' %s "$@"
                """
                        .formatted(
                                System.getProperty("java.home"), classes, FakeMps.class.getName()));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        return program;
    }

    @SuppressWarnings("SystemOut") // That is how the program answers.
    public static void main(String[] args) throws Exception {
        Path control = Path.of(System.getenv("CUDA_MPS_PIPE_DIRECTORY")).resolve("control");
        if (args.length > 0 && args[0].equals("client")) {
            System.exit(client(control, args[1], Integer.parseInt(args[2])));
        } else if (args.length > 0) {
            new Daemon(Path.of(System.getenv("CUDA_MPS_LOG_DIRECTORY"))).serve(control);
        } else {
            var input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
            String command = input.readLine();
            try (SocketChannel daemon = connect(control)) {
                send(daemon, "command " + command);
                String answer = new String(Channels.newInputStream(daemon).readAllBytes(), UTF_8);
                if (answer.equals("DIE\n")) {
                    Runtime.getRuntime().halt(137);
                }
                System.out.print(answer);
            } catch (IOException e) {
                System.out.println("Cannot find MPS control daemon process");
                System.exit(1);
            }
        }
    }

    static void kill(ProcessHandle process) {
        process.destroyForcibly();
        process.onExit().join();
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
    }

    private static SocketChannel connect(Path control) throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(control));
    }

    private static void send(SocketChannel to, String line) throws IOException {
        to.write(ByteBuffer.wrap((line + "\n").getBytes(UTF_8)));
    }

    @SuppressWarnings("SystemOut") // As above.
    private static int client(Path control, String work, int seconds) throws Exception {
        SocketChannel daemon;
        try {
            daemon = connect(control);
        } catch (IOException e) {
            // Without a daemon programs run all the same, without limits.
            System.out.println("done without MPS");
            Thread.sleep(1000L * (work.equals("try") ? 0 : seconds));
            return 0;
        }
        send(daemon, "client %d %s".formatted(ProcessHandle.current().pid(), work));
        var said = new BufferedReader(Channels.newReader(daemon, UTF_8));
        String first = said.readLine();
        if (first == null || !first.equals("ok")) {
            System.out.println(first == null ? "cuInit answered 807" : first);
            return TERMINATED;
        }
        System.out.println("running");
        if (!work.equals("try")) {
            Thread.startVirtualThread(() -> {
                try {
                    Thread.sleep(1000L * seconds);
                    send(daemon, "bye");
                } catch (InterruptedException | IOException e) {
                    // The daemon is gone, and with it this program.
                }
            });
        } else {
            send(daemon, "bye");
        }
        String last = said.readLine();
        if (last != null && last.equals("bye")) {
            System.out.println("done");
            return 0;
        }
        System.out.println(last == null ? "cuCtxSynchronize answered 807" : last);
        return TERMINATED;
    }

    /** The daemon, which does its server's work too. */
    private static final class Daemon {

        private record Client(long pid, int id, String work, SocketChannel channel) {}

        private final Path behaviour;
        private final Path number;
        private final Map<Long, Client> clients = new ConcurrentHashMap<>();
        private final Set<Behaviour> learned = ConcurrentHashMap.newKeySet();
        private @Nullable Process server;
        private int ids;

        Daemon(Path log) {
            this.behaviour = log.resolve(BEHAVIOUR);
            this.number = log.resolve(SERVER);
        }

        private boolean is(Behaviour what) throws IOException {
            return learned.contains(what)
                    || (Files.exists(behaviour)
                            && Files.readAllLines(behaviour).contains(what.name()));
        }

        void serve(Path control) throws IOException {
            if (is(Behaviour.NoStart)) {
                System.exit(1);
            }
            try (var socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                socket.bind(UnixDomainSocketAddress.of(control));
                while (true) {
                    SocketChannel from = socket.accept();
                    Thread.ofPlatform().daemon().start(() -> answer(from));
                }
            }
        }

        private void answer(SocketChannel from) {
            try {
                var said = new BufferedReader(Channels.newReader(from, UTF_8));
                String line = said.readLine();
                if (line == null) {
                    return;
                }
                String[] words = line.split(" ", 2);
                if (words[0].equals("command")) {
                    command(from, words[1]);
                    from.close();
                } else {
                    client(from, said, words[1].split(" ", -1));
                }
            } catch (IOException e) {
                // Whoever asked has gone.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void command(SocketChannel to, String command)
                throws IOException, InterruptedException {
            if (is(Behaviour.CommandsHang)) {
                Thread.sleep(Long.MAX_VALUE);
            }
            if (is(Behaviour.CommandsDie)) {
                send(to, "DIE");
                return;
            }
            if (is(Behaviour.CommandsNonsense)) {
                send(to, "segmentation 7 fault");
                return;
            }
            String[] words = command.split(" ", -1);
            long owner = owner(to);
            boolean mayChange = owner >= 0 && !is(Behaviour.CommandsRefused);
            switch (words[0]) {
                case "get_server_list" -> {
                    for (long server : server()) {
                        send(to, Long.toString(server));
                    }
                }
                case "get_client_list" -> {
                    for (Client client : byId()) {
                        send(to, Long.toString(client.pid()));
                    }
                }
                case "get_server_status" -> send(to, "ACTIVE");
                case "ps" -> {
                    send(
                            to,
                            "PID       ID        SERVER         DEVICE                    NAMESPACE      COMMAND        ");
                    for (Client client : byId()) {
                        send(
                                to,
                                "%-9d %-9d %-11d %-23s %-13s %s"
                                        .formatted(
                                                client.pid(),
                                                client.id(),
                                                server().getFirst(),
                                                "GPU-0",
                                                "4026531836",
                                                "/usr/bin/fake"));
                    }
                }
                case "terminate_client" -> {
                    if (!mayChange) {
                        send(to, refusal(owner));
                        send(to, "800");
                    } else {
                        Client client = clients.remove(Long.parseLong(words[2]));
                        if (client == null) {
                            send(to, words[2].equals("0") ? "Invalid process 0!\n1" : "201");
                        } else {
                            send(client.channel(), "cuCtxSynchronize answered 809");
                            client.channel().close();
                            send(to, "0");
                        }
                    }
                }
                case "quit" -> {
                    if (!mayChange) {
                        send(to, "Not enough privilege to execute quit command");
                    } else {
                        to.close();
                        server().forEach(it -> ProcessHandle.of(it).ifPresent(FakeMps::kill));
                        System.exit(0);
                    }
                }
                default -> send(to, "Unknown command \"%s\"".formatted(words[0]));
            }
        }

        private static String refusal(long uid) {
            return "Insufficient privileges for UID %d. Control deamon settings can only be modified by the user who started it or by the root user."
                    .formatted(Math.abs(uid));
        }

        /** Negative where it is not the daemon's own user. */
        private static long owner(SocketChannel from) throws IOException {
            String user = from.getOption(ExtendedSocketOptions.SO_PEERCRED).user().getName();
            return user.equals("root") || user.equals(System.getProperty("user.name")) ? 0 : -1;
        }

        private synchronized List<Long> server() {
            Process running = server;
            return running != null && running.isAlive() ? List.of(running.pid()) : List.of();
        }

        private List<Client> byId() {
            var byId = new TreeMap<Integer, Client>();
            clients.values().forEach(client -> byId.put(client.id(), client));
            return List.copyOf(byId.values());
        }

        private synchronized @Nullable String admit(long pid, String work, SocketChannel from)
                throws IOException {
            if (server().isEmpty()) {
                if (Files.exists(number) && isAlive(Long.parseLong(Files.readString(number)))) {
                    return "cuDevicePrimaryCtxRetain answered 46";
                }
                Process started = new ProcessBuilder("sleep", "300").start();
                Files.writeString(number, Long.toString(started.pid()));
                server = started;
            }
            if (clients.size() >= MOST_CLIENTS) {
                return "cuDevicePrimaryCtxRetain answered 46";
            }
            clients.put(pid, new Client(pid, ++ids, work, from));
            return null;
        }

        private void client(SocketChannel from, BufferedReader said, String[] words)
                throws IOException, InterruptedException {
            if (is(Behaviour.ClientsHang)) {
                Thread.sleep(Long.MAX_VALUE);
            }
            if (is(Behaviour.ClientsFail)) {
                send(from, "cuInit answered 805");
                from.close();
                return;
            }
            if (is(Behaviour.ClientsUnavailable)) {
                send(from, "cuDevicePrimaryCtxRetain answered 46");
                from.close();
                return;
            }
            long pid = Long.parseLong(words[0]);
            String refused = admit(pid, words[1], from);
            if (refused != null) {
                send(from, refused);
                from.close();
                return;
            }
            send(from, "ok");
            String last = said.readLine();
            boolean listed = clients.remove(pid) != null;
            if (last != null) {
                send(from, "bye");
            } else if (listed && words[1].equals("work")) {
                // Killed in the midst of a kernel: whoever is beside it fails.
                if (is(Behaviour.WedgedByAKill)) {
                    learned.add(Behaviour.ClientsHang);
                }
                for (Client other : byId()) {
                    clients.remove(other.pid());
                    send(other.channel(), "cuCtxSynchronize answered 700");
                    other.channel().close();
                }
            }
            from.close();
        }
    }
}
