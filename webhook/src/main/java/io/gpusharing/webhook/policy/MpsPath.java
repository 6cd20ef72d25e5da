package io.gpusharing.webhook.policy;

import java.util.List;

/**
 * Paths of a node that lead to the pipes of MPS daemons: their folders, what is in them, and the
 * folders above. Whoever has a daemon's pipe may use it, and end those who do.
 */
final class MpsPath {

    private static final List<List<String>> PIPES =
            List.of(
                    List.of("run", "gpusharing"),
                    List.of("run", "nvidia", "mps"),
                    List.of("run", "nvidia-mps"),
                    List.of("tmp", "nvidia-mps"));

    /** The root is a device path as well; {@code /tmp} is mounted for other reasons. */
    private static final List<String> ABOVE = List.of("run");

    private MpsPath() {}

    /** Whether a hostPath is such a path, however oddly it is written. */
    static boolean matches(String hostPath) {
        List<String> names = DevicePath.onTheNode(hostPath);
        return names.equals(ABOVE)
                || PIPES.stream()
                        .anyMatch(pipes ->
                                names.size() >= pipes.size()
                                        && names.subList(0, pipes.size()).equals(pipes));
    }
}
