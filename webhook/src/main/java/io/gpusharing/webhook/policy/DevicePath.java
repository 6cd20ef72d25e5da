package io.gpusharing.webhook.policy;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * Paths of a node that lead to the device nodes of its GPUs: its root, {@code /dev}, and in it the
 * nodes of GPUs, which also stand in {@code /dev/char} by their numbers. The policy for pods that
 * request no GPU checks the same paths.
 */
final class DevicePath {

    private static final List<String> DRIVER = List.of("run", "nvidia", "driver");

    private DevicePath() {}

    /**
     * Whether a hostPath is such a path, however oddly it is written; the API server itself refuses
     * {@code ..}.
     */
    static boolean matches(String hostPath) {
        List<String> names = onTheNode(hostPath);
        return names.isEmpty()
                || names.equals(DRIVER.subList(0, 2))
                || (names.getFirst().equals("dev") && (names.size() == 1 || isGpu(names.get(1))));
    }

    /** The names that lead to it from the root of the node, also by way of a process. */
    static List<String> onTheNode(String hostPath) {
        List<String> names = withoutVar(names(hostPath));
        for (int root = rootElsewhere(names); root > 0; root = rootElsewhere(names)) {
            names = withoutVar(names.subList(root, names.size()));
        }
        return names;
    }

    private static List<String> names(String path) {
        return Arrays.stream(path.split("/"))
                .filter(Predicate.not(name -> name.isEmpty() || name.equals(".")))
                .toList();
    }

    /** {@code /var/run} is {@code /run}. */
    private static List<String> withoutVar(List<String> names) {
        return names.size() > 1 && names.getFirst().equals("var") && names.get(1).equals("run")
                ? names.subList(1, names.size())
                : names;
    }

    /**
     * How many names lead to a root once more: that of a process, {@code /proc/1/root}, or of the
     * container that installs the driver, {@code /run/nvidia/driver}. 0 if they do not.
     */
    private static int rootElsewhere(List<String> names) {
        if (names.size() >= DRIVER.size() && names.subList(0, DRIVER.size()).equals(DRIVER)) {
            return DRIVER.size();
        }
        if (names.isEmpty() || !names.getFirst().equals("proc")) {
            return 0;
        }
        int process = names.size() > 3 && names.get(2).equals("task") ? 4 : 2;
        return names.size() > process
                        && (names.get(process).equals("root") || names.get(process).equals("cwd"))
                ? process + 1
                : 0;
    }

    private static boolean isGpu(String device) {
        return device.startsWith("nvidia") || device.startsWith("dri") || device.startsWith("char");
    }
}
