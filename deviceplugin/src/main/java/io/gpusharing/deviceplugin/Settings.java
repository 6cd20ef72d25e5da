package io.gpusharing.deviceplugin;

import io.gpusharing.deviceplugin.dialect.Aliyun;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.dialect.Metagpu;
import io.gpusharing.deviceplugin.dialect.Vcuda;
import io.gpusharing.sharing.Sharing;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The environment variables.
 *
 * @param node {@code GPUSHARING_NODE}: the node's name
 * @param dialect {@code GPUSHARING_DIALECT}: {@code vcuda} (by default), {@code aliyun} or {@code
 *     metagpu}; the node's label {@value #DIALECT_LABEL} goes before it
 * @param metagpu {@code GPUSHARING_METAGPU}: the resources of metagpu and how many units of each
 *     are a GPU, {@code cnvrg.io/metagpu=100} by default
 * @param nvmlLibrary {@code GPUSHARING_NVML_LIBRARY}: the exact library to open, or null to search
 * @param kubelet {@code GPUSHARING_KUBELET_DIR}: {@code /var/lib/kubelet} by default
 * @param state {@code GPUSHARING_STATE_DIR}: grants and known GPUs, {@code /var/lib/gpusharing} by
 *     default
 * @param shares {@code GPUSHARING_SHARES_DIR}: what containers may read of their shares, {@code
 *     /run/gpusharing} by default
 * @param cdi {@code GPUSHARING_CDI_DIRS}: where the container runtime looks for CDI specifications,
 *     {@code /etc/cdi:/var/run/cdi} by default; ours go into the last
 * @param host {@code GPUSHARING_HOST_DIR}: below which folders of the node are mounted, each at its
 *     own path, {@code /host} by default
 * @param containerd {@code GPUSHARING_CONTAINERD_CONFIG}: containerd's configuration on the node,
 *     {@code /etc/containerd/config.toml} by default
 * @param nvidiaRuntime {@code GPUSHARING_NVIDIA_RUNTIME_CONFIG}: that of NVIDIA's container
 *     runtime, {@code /etc/nvidia-container-runtime/config.toml} by default
 * @param proc {@code GPUSHARING_PROC_DIR}: {@code /proc} by default
 * @param serviceAccount {@code GPUSHARING_SERVICE_ACCOUNT_DIR}: token and CA of the API server, and
 *     the pod's namespace; by default where a pod finds its own
 * @param port {@code GPUSHARING_PORT}: of probes and metrics, 9402 by default
 * @param mps {@code GPUSHARING_MPS}: {@code Disabled} (by default), or {@code Enabled} on nodes
 *     with the label {@code gpusharing.io/mps=enabled}
 * @param mpsAcross {@code GPUSHARING_MPS_SHARE_ACROSS}: the pods of which {@code Budget} (by
 *     default), {@code Namespace} or {@code Cluster} share a GPU by MPS
 * @param mpsClients {@code GPUSHARING_MPS_CLIENTS}: how many clients the driver lets use one GPU,
 *     48 by default
 * @param mpsProgram {@code GPUSHARING_MPS_PROGRAM}: NVIDIA's control program; empty to look for it
 * @param interceptor {@code GPUSHARING_INTERCEPTOR}: path on the node of a library that limits what
 *     programs may use; empty for none
 * @param interceptorEnvironment {@code GPUSHARING_INTERCEPTOR_ENVIRONMENT}: variables for it,
 *     {@code NAME=value}, a line each
 */
record Settings(
        String node,
        String dialect,
        Metagpu metagpu,
        @Nullable String nvmlLibrary,
        Path kubelet,
        Path state,
        Path shares,
        List<Path> cdi,
        Path host,
        Path containerd,
        Path nvidiaRuntime,
        Path proc,
        Path serviceAccount,
        int port,
        boolean mps,
        Sharing.Across mpsAcross,
        int mpsClients,
        String mpsProgram,
        String interceptor,
        List<String> interceptorEnvironment) {

    static final String DIALECT_LABEL = "gpusharing.io/dialect";

    /** As many contexts as a GPU had in any driver that was documented, and room. */
    private static final int MOST_MPS_CLIENTS = 128;

    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*=.*");

    /** The environment cannot be used; the message names every problem. */
    static final class BadSettings extends Exception {
        BadSettings(List<String> problems) {
            super(String.join("; ", problems));
        }
    }

    /**
     * Reads the environment.
     *
     * @throws BadSettings with everything that is wrong at once
     */
    static Settings from(Map<String, String> environment) throws BadSettings {
        var problems = new ArrayList<String>();
        String node = environment.getOrDefault("GPUSHARING_NODE", "");
        if (node.isBlank()) {
            problems.add("GPUSHARING_NODE is not set; the chart sets it to the node's name");
        }
        Metagpu metagpu = metagpu(environment.getOrDefault("GPUSHARING_METAGPU", ""), problems);
        String dialect = environment.getOrDefault("GPUSHARING_DIALECT", "vcuda");
        if (dialect(dialect, metagpu) == null) {
            problems.add(
                    "GPUSHARING_DIALECT is %s; use vcuda, aliyun or metagpu".formatted(dialect));
        }
        int port = port(environment.getOrDefault("GPUSHARING_PORT", "9402"), problems);
        String interceptor = interceptor(environment, problems);
        List<String> variables = variables(environment, problems);
        boolean mps =
                oneOf(environment, "GPUSHARING_MPS", List.of("Disabled", "Enabled"), problems)
                        .equals("Enabled");
        var across =
                Sharing.Across.valueOf(
                        oneOf(
                                environment,
                                "GPUSHARING_MPS_SHARE_ACROSS",
                                Stream.of(Sharing.Across.values()).map(Enum::name).toList(),
                                problems));
        int clients = mpsClients(environment, problems);
        if (!problems.isEmpty()) {
            throw new BadSettings(problems);
        }
        String library = environment.getOrDefault("GPUSHARING_NVML_LIBRARY", "");
        return new Settings(
                node,
                dialect,
                metagpu,
                library.isBlank() ? null : library,
                path(environment, "GPUSHARING_KUBELET_DIR", "/var/lib/kubelet"),
                path(environment, "GPUSHARING_STATE_DIR", "/var/lib/gpusharing"),
                path(environment, "GPUSHARING_SHARES_DIR", "/run/gpusharing"),
                paths(environment.getOrDefault("GPUSHARING_CDI_DIRS", "/etc/cdi:/var/run/cdi")),
                path(environment, "GPUSHARING_HOST_DIR", "/host"),
                path(environment, "GPUSHARING_CONTAINERD_CONFIG", "/etc/containerd/config.toml"),
                path(
                        environment,
                        "GPUSHARING_NVIDIA_RUNTIME_CONFIG",
                        "/etc/nvidia-container-runtime/config.toml"),
                path(environment, "GPUSHARING_PROC_DIR", "/proc"),
                path(
                        environment,
                        "GPUSHARING_SERVICE_ACCOUNT_DIR",
                        "/var/run/secrets/kubernetes.io/serviceaccount"),
                port,
                mps,
                across,
                clients,
                environment.getOrDefault("GPUSHARING_MPS_PROGRAM", ""),
                interceptor,
                variables);
    }

    private static String interceptor(Map<String, String> environment, List<String> problems) {
        String interceptor = environment.getOrDefault("GPUSHARING_INTERCEPTOR", "");
        if (!interceptor.isEmpty() && !interceptor.startsWith("/")) {
            problems.add(
                    "GPUSHARING_INTERCEPTOR is %s; use the path of a library on the node, /usr/local/vgpu/libvgpu.so for instance"
                            .formatted(interceptor));
        }
        return interceptor;
    }

    private static List<String> variables(Map<String, String> environment, List<String> problems) {
        List<String> variables =
                environment
                        .getOrDefault("GPUSHARING_INTERCEPTOR_ENVIRONMENT", "")
                        .lines()
                        .filter(line -> !line.isBlank())
                        .toList();
        for (String variable : variables) {
            if (!VARIABLE.matcher(variable).matches()) {
                problems.add(
                        "GPUSHARING_INTERCEPTOR_ENVIRONMENT has %s; use NAME=value, a line each"
                                .formatted(variable));
            }
        }
        return variables;
    }

    /**
     * By which resources the node's GPUs are asked for.
     *
     * @param labels the node's
     * @throws BadSettings if its label names none that we know
     */
    Dialect dialect(Map<String, String> labels) throws BadSettings {
        String name = labels.getOrDefault(DIALECT_LABEL, dialect);
        Dialect found = dialect(name, metagpu);
        if (found == null) {
            throw new BadSettings(
                    List.of(
                            "Node %s has the label %s=%s; use vcuda, aliyun or metagpu"
                                    .formatted(node, DIALECT_LABEL, name)));
        }
        return found;
    }

    /** By which resources shares may be asked for, on this node or on others. */
    Set<String> resources() {
        return Stream.of(new Vcuda(), new Aliyun(), metagpu)
                .map(Dialect::resources)
                .flatMap(List::stream)
                .collect(Collectors.toSet());
    }

    private static @Nullable Dialect dialect(String name, Metagpu metagpu) {
        return switch (name) {
            case "vcuda" -> new Vcuda();
            case "aliyun" -> new Aliyun();
            case "metagpu" -> metagpu;
            default -> null;
        };
    }

    private static Metagpu metagpu(String text, List<String> problems) {
        try {
            return Metagpu.of(text);
        } catch (IllegalArgumentException e) {
            problems.add(
                    "GPUSHARING_METAGPU has %s; use for instance cnvrg.io/metagpu=100, with 1 to 100 units a GPU"
                            .formatted(e.getMessage()));
            return Metagpu.USUAL;
        }
    }

    private static int port(String text, List<String> problems) {
        if (text.matches("[0-9]{1,5}") && Integer.parseInt(text) <= 65_535) {
            return Integer.parseInt(text);
        }
        problems.add("GPUSHARING_PORT is %s; use 1 to 65535".formatted(text));
        return 0;
    }

    /** One of these words; the first by default, also where another one is a problem. */
    static String oneOf(
            Map<String, String> environment,
            String name,
            List<String> words,
            List<String> problems) {
        String word = environment.getOrDefault(name, words.getFirst());
        if (!words.contains(word)) {
            problems.add("%s is %s; use %s".formatted(name, word, String.join(" or ", words)));
            return words.getFirst();
        }
        return word;
    }

    static int number(
            Map<String, String> environment,
            String name,
            int usual,
            int most,
            List<String> problems) {
        return number(environment, name, usual, 1, most, problems);
    }

    private static int number(
            Map<String, String> environment,
            String name,
            int usual,
            int least,
            int most,
            List<String> problems) {
        String text = environment.getOrDefault(name, Integer.toString(usual));
        if (text.matches("[1-9][0-9]{0,5}")) {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        }
        problems.add("%s is %s; use %d to %d".formatted(name, text, least, most));
        return usual;
    }

    /** How many clients the driver lets use a GPU; one of them is the check's. */
    static int mpsClients(Map<String, String> environment, List<String> problems) {
        return number(environment, "GPUSHARING_MPS_CLIENTS", 48, 2, MOST_MPS_CLIENTS, problems);
    }

    private static Path path(Map<String, String> environment, String name, String usual) {
        return Path.of(environment.getOrDefault(name, usual));
    }

    private static List<Path> paths(String text) {
        return List.of(text.split(":", -1)).stream().map(Path::of).toList();
    }
}
