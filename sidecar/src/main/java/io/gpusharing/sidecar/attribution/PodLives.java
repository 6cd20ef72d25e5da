package io.gpusharing.sidecar.attribution;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which pods of the node live. A pod has a process in its control group for as long as it does: its
 * sandbox's, with most runtimes, whatever its containers do. Its folders stay for as long as
 * somebody keeps the pod, and what it was given is taken back later, so neither says that. One
 * process of each pod is looked at; when it has ended, another is searched for.
 */
final class PodLives {

    /** Nobody saw the pod live. */
    static final long NEVER = Long.MIN_VALUE / 2;

    private static final long LOOK_EVERY_MICROS = 500_000;
    private static final long SEARCH_EVERY_MICROS = 9_000_000;
    private static final long KEEP_MICROS = 1_200_000_000;

    private final ProcFs proc;
    private final Map<String, Life> lives = new HashMap<>();

    /** A living process of each pod, as of the last search. */
    private final Map<String, Witness> found = new HashMap<>();

    private long searchedMicros = NEVER;

    /** A process; with its start time, since a pid may be another's later. */
    private record Witness(long pid, String startTime) {

        boolean lives(ProcFs proc) {
            return proc.livingSince(pid).filter(startTime::equals).isPresent();
        }
    }

    private static final class Life {
        @Nullable Witness witness;
        long livedMicros = NEVER;
        long askedMicros;
    }

    PodLives(ProcFs proc) {
        this.proc = proc;
    }

    /**
     * When the pod was last seen to live: now if it does, {@link #NEVER} if nobody saw it.
     *
     * @param nowMicros monotonic
     */
    long livedUntil(String podUid, long nowMicros) {
        Life pod = lives.get(podUid);
        boolean isNew = pod == null;
        if (pod == null) {
            pod = new Life();
            lives.put(podUid, pod);
        }
        pod.askedMicros = nowMicros;
        Witness witness = pod.witness;
        if (witness != null && nowMicros - pod.livedMicros < LOOK_EVERY_MICROS) {
            return nowMicros;
        }
        if (witness == null || !witness.lives(proc)) {
            boolean isDue = nowMicros - searchedMicros >= SEARCH_EVERY_MICROS;
            if (isNew || witness != null || isDue) {
                search(nowMicros);
            }
            witness = found.get(podUid);
            pod.witness = witness != null && witness.lives(proc) ? witness : null;
        }
        if (pod.witness != null) {
            pod.livedMicros = nowMicros;
        }
        return pod.livedMicros;
    }

    /** Whether pods can be seen from here at all, as of the last search. */
    boolean seesPods() {
        return !found.isEmpty();
    }

    private void search(long nowMicros) {
        if (searchedMicros == nowMicros) {
            return;
        }
        searchedMicros = nowMicros;
        lives.values().removeIf(pod -> nowMicros - pod.askedMicros > KEEP_MICROS);
        found.clear();
        for (long pid : proc.pids()) {
            String uid = proc.cgroup(pid).map(CgroupPath::parse).map(CgroupPath::podUid).orElse("");
            if (!uid.isEmpty() && !found.containsKey(uid)) {
                proc.livingSince(pid).ifPresent(since -> found.put(uid, new Witness(pid, since)));
            }
        }
    }
}
