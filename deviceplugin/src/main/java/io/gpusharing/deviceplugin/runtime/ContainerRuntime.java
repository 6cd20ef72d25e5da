package io.gpusharing.deviceplugin.runtime;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The container runtime of this node, as its configuration files have it.
 *
 * <p>NVIDIA's runtime gives a container the GPUs that {@code NVIDIA_VISIBLE_DEVICES} names, whoever
 * has set that variable: the device plugin, the pod or the image. It does so in its legacy mode,
 * and in its CDI mode for any name; a setting of its own limits both to privileged containers.
 */
public final class ContainerRuntime {

    private static final String CONTAINERD = "containerd://";
    private static final String NVIDIA = "nvidia";

    private static final String SETTING = "accept-nvidia-visible-devices-envvar-when-unprivileged";
    private static final List<String> MODE = List.of("nvidia-container-runtime", "mode");

    /** In which the runtime does not look at the setting. */
    private static final String CSV = "csv";

    /** What GPU Operator installs brings its configuration along. */
    private static final Path OPERATORS = Path.of("/usr/local/nvidia/toolkit");

    private static final String OPERATORS_CONFIG = ".config/nvidia-container-runtime/config.toml";

    private final NodeFiles files;
    private final String version;
    private final Path containerd;
    private final Path nvidia;
    private @Nullable Exposure last;

    /**
     * @param version as the kubelet names it in the Node's status, {@code containerd://2.1.4}
     * @param mounted below which folders of the node are mounted, each at its own path
     * @param containerd containerd's configuration on the node
     * @param nvidia that of NVIDIA's runtime
     */
    public ContainerRuntime(String version, Path mounted, Path containerd, Path nvidia) {
        this.files = new NodeFiles(mounted);
        this.version = version;
        this.containerd = containerd;
        this.nvidia = nvidia;
    }

    /** What it lets containers reach, once it has been started with what its files say now. */
    public Exposure exposure() {
        Exposure known = last;
        if (known == null || files.changed()) {
            known = read();
            last = known;
        }
        return known;
    }

    private Exposure read() {
        if (!version.startsWith(CONTAINERD)) {
            return new Exposure.Unknown(
                    "this node's container runtime is %s, and only containerd's configuration can be read"
                            .formatted(version.isEmpty() ? "unknown" : version));
        }
        try {
            ContainerdConfig config = ContainerdConfig.read(files, containerd);
            for (Map.Entry<String, String> handler : config.programs().entrySet()) {
                if (isNvidias(handler.getKey(), handler.getValue())) {
                    boolean always = handler.getKey().equals(config.defaultHandler());
                    Optional<Exposure.Open> open =
                            open(handler.getKey(), handler.getValue(), always);
                    if (open.isPresent()) {
                        return open.get();
                    }
                }
            }
            return new Exposure.Closed();
        } catch (IOException e) {
            return new Exposure.Unknown(String.valueOf(e.getMessage()));
        }
    }

    /** Some installations make it the program of the handler that is called runc. */
    private static boolean isNvidias(String handler, String program) {
        return handler.contains(NVIDIA) || String.valueOf(name(program)).contains(NVIDIA);
    }

    private Optional<Exposure.Open> open(String handler, String program, boolean always)
            throws IOException {
        Path file = configOf(program);
        Toml config = Toml.read(files, file);
        String mode = mode(program).or(() -> config.text(MODE)).orElse("auto");
        boolean accepted = config.flag(List.of(SETTING)).orElse(true);
        if (!accepted && !mode.equals(CSV)) {
            return Optional.empty();
        }
        String reason =
                (always
                                        ? "containerd starts containers by NVIDIA's runtime (handler %s, mode %s)"
                                        : "containerd starts containers of a RuntimeClass with the handler %s by NVIDIA's runtime (mode %s)")
                                .formatted(handler, mode)
                        + ", which gives them every GPU that a pod or an image names in NVIDIA_VISIBLE_DEVICES";
        String remedy =
                "in %s: %s%s = false"
                        .formatted(
                                file,
                                mode.equals(CSV)
                                        ? "mode = \"cdi\" under [nvidia-container-runtime], and "
                                        : "",
                                SETTING);
        return Optional.of(new Exposure.Open(reason, remedy));
    }

    private Path configOf(String program) {
        return OPERATORS.equals(Path.of(program).getParent())
                ? OPERATORS.resolve(OPERATORS_CONFIG)
                : nvidia;
    }

    /** By its name a program may have one mode only. */
    private static Optional<String> mode(String program) {
        String name = String.valueOf(name(program));
        return List.of("cdi", "legacy").stream()
                .filter(mode -> name.endsWith("." + mode))
                .findFirst();
    }

    private static @Nullable Path name(String program) {
        return Path.of(program).getFileName();
    }
}
