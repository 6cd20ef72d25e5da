package io.gpusharing.deviceplugin.mps.fake;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.deviceplugin.mps.GpuFolder;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import io.gpusharing.deviceplugin.mps.ProcessEnds;
import io.gpusharing.deviceplugin.mps.fake.FakeMps.Behaviour;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** {@link FakeMps} for one GPU: its control program, its daemon if it was started, its clients. */
public final class RunningMps implements AutoCloseable {

    private static final String GPU = "GPU-1f2e3d4c-0000-0000-0000-000000000000";

    private final MpsProgram program;
    private final GpuFolder folder;
    private final List<Process> clients = new ArrayList<>();
    private final List<SocketChannel> connected = new ArrayList<>();
    private @Nullable Process daemon;

    private RunningMps(MpsProgram program, GpuFolder folder) {
        this.program = program;
        this.folder = folder;
    }

    /** Without a daemon. */
    public static RunningMps install(Path root) throws IOException {
        GpuFolder folder = GpuFolder.of(root, GPU);
        Files.createDirectories(folder.pipe());
        Files.createDirectories(folder.log());
        return new RunningMps(
                new MpsProgram(List.of(FakeMps.program().toString()), Map.of()), folder);
    }

    /** With its daemon. */
    public static RunningMps start(Path root) throws Exception {
        RunningMps mps = install(root);
        ProcessBuilder builder = mps.program.process(mps.folder, "-f", "-multiuser-server");
        builder.environment().put("CUDA_MPS_LOG_DIRECTORY", mps.folder.log().toString());
        Process daemon = builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        mps.daemon = daemon;
        while (!Files.exists(mps.folder.control())) {
            if (!daemon.isAlive()) {
                throw new IllegalStateException("The daemon ended with " + daemon.exitValue());
            }
            Thread.onSpinWait();
        }
        return mps;
    }

    /** Its control program. */
    public MpsProgram program() {
        return program;
    }

    /** A CUDA program that only tries something. */
    public MpsProgram trying() {
        return new MpsProgram(
                List.of(program.command().getFirst(), "client", "try", "0"), Map.of());
    }

    /** Where it has its files. */
    public GpuFolder folder() {
        return folder;
    }

    /** From now on this goes wrong, too. */
    public void behave(Behaviour what) throws IOException {
        Files.writeString(
                folder.log().resolve(FakeMps.BEHAVIOUR),
                what.name() + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** Nothing goes wrong any more. */
    public void behave() throws IOException {
        Files.deleteIfExists(folder.log().resolve(FakeMps.BEHAVIOUR));
    }

    /** Whether two commands have met, where that makes one of them fail. */
    public boolean haveCommandsCollided() throws IOException {
        Path log = folder.log().resolve("clients.log");
        return Files.exists(log) && Files.readString(log).contains("Collides");
    }

    /** A CUDA program that runs for a minute, once it is a client. */
    public Process client(String work) throws IOException {
        return client(work, folder.pipe());
    }

    /** The same where it sees the daemon's socket in this folder. */
    public Process client(String work, Path pipe) throws IOException {
        ProcessBuilder builder = program.process(folder, "client", work, "60");
        builder.environment().put("CUDA_MPS_PIPE_DIRECTORY", pipe.toString());
        Process client = builder.start();
        clients.add(client);
        var said = new BufferedReader(new InputStreamReader(client.getInputStream(), UTF_8));
        String first = said.readLine();
        if (first == null || !first.equals("running")) {
            throw new IOException("The client says " + first);
        }
        return client;
    }

    /** The process of the last server, if it lives. */
    public Optional<ProcessHandle> server() {
        try {
            return ProcessHandle.of(
                            Long.parseLong(Files.readString(folder.log().resolve(FakeMps.SERVER))))
                    .filter(process -> !ProcessEnds.hasEnded(process));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** So many more clients, all of them this process: a process for each would be slow. */
    public void connect(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(folder.control()));
            connected.add(client);
            client.write(ByteBuffer.wrap("client hold here\n".getBytes(UTF_8)));
            String first = new BufferedReader(Channels.newReader(client, UTF_8)).readLine();
            if (!"ok".equals(first)) {
                throw new IOException("The daemon says " + first);
            }
        }
    }

    @Override
    public void close() {
        connected.forEach(RunningMps::close);
        clients.forEach(Process::destroyForcibly);
        Process running = daemon;
        if (running != null) {
            running.destroyForcibly();
            running.onExit().join();
        }
        server().ifPresent(FakeMps::kill);
    }

    private static void close(SocketChannel client) {
        try {
            client.close();
        } catch (IOException e) {
            // The daemon has closed it.
        }
    }
}
