package io.gpusharing.sidecar.attribution;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Pod and container as a process's control group names them.
 *
 * <p>Kubelet and the runtimes write many forms: with cgroupfs {@code /kubepods/pod<uid>/<id>}, with
 * systemd {@code …-pod<uid_>.slice/cri-containerd-<id>.scope} (or {@code crio-}, {@code docker-}),
 * one line per controller on v1, one line on v2, and anything in front when a node is itself a
 * container. So every place is tried where {@code pod} is followed by a UID, and the innermost
 * counts.
 *
 * @param podUid empty where none is named; for a static pod the hash of its manifest
 * @param containerId 64 hex digits; empty where none is named
 */
public record CgroupPath(String podUid, String containerId) {

    private static final Pattern POD =
            Pattern.compile(
                    "pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}"
                            + "|[0-9a-f]{32})(?![0-9a-f])");

    private static final Pattern CONTAINER =
            Pattern.compile("(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])");

    private static final CgroupPath NONE = new CgroupPath("", "");

    /** Reads the text of {@code /proc/<pid>/cgroup}. */
    public static CgroupPath parse(String text) {
        CgroupPath best = NONE;
        for (String line : text.lines().toList()) {
            // number:controllers:path; the path may hold colons of its own.
            String[] parts = line.split(":", 3);
            CgroupPath found = parts.length < 3 ? NONE : ofPath(parts[2]);
            if (!found.podUid.isEmpty()) {
                return found;
            }
            best = best.containerId.isEmpty() ? found : best;
        }
        return best;
    }

    private static CgroupPath ofPath(String path) {
        String uid = "";
        int inside = 0;
        for (Matcher pod = POD.matcher(path); pod.find(); ) {
            uid = pod.group(1).replace('_', '-');
            inside = pod.end();
        }
        String container = "";
        for (Matcher id = CONTAINER.matcher(path.substring(inside)); id.find(); ) {
            container = id.group();
        }
        return new CgroupPath(uid, container);
    }
}
