package io.gpusharing.deviceplugin.mps;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.mps.Answer.Failed;
import io.gpusharing.deviceplugin.mps.Answer.Told;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.deviceplugin.mps.Mps.Obstacle;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One GPU of a node that serves MPS: idle, shared by clients of its daemon, or used without MPS.
 * The mode changes only while nobody holds any of it. After a client has gone of which nobody knows
 * that it went well, nobody joins before a check.
 */
final class SharedGpu {

    private final GpuFolder folder;
    private final MpsControl control;
    private final int mostClients;
    private DaemonOrder order;

    /** IDs of the containers that run, by pod and container. */
    private final Map<String, String> running = new HashMap<>();

    /** Those that were let start, by pod and container. */
    private final Set<String> admitted = new HashSet<>();

    /**
     * Numbers of the clients that the daemon named when somebody joined last, without those that it
     * was told to end. The API server is told only a second or two later that a container has
     * ended; a client that came since, and was killed within that time, is missed.
     */
    private Set<Long> clients = Set.of();

    /**
     * Those that waited for a check because a client had gone, by pod and container. Once is enough
     * for each: where programs come and go all the time, nobody would ever be let in.
     */
    private final Set<String> checkedFor = new HashSet<>();

    /** UIDs of pods whose clients were ended through their daemon. */
    private final Set<String> drained = new HashSet<>();

    /** What became of an attempt to end a pod's clients. */
    enum Drain {
        /** It has none. */
        None,
        /** They were ended. */
        Terminated,
        /** Some may live. */
        Failed
    }

    /**
     * An attempt to end a pod's clients.
     *
     * @param reason why some may live, in the words of the first command that failed; empty if none
     *     does
     */
    record Drained(Drain result, String reason) {}

    /**
     * @param mostClients that pods may be
     */
    SharedGpu(GpuFolder folder, MpsControl control, int mostClients) throws IOException {
        this.folder = folder;
        this.control = control;
        this.mostClients = mostClients;
        DaemonOrder last = DaemonOrder.read(folder);
        // What happened while this program did not run nobody knows.
        this.order = last.shared() ? last.checked() : last;
        if (last.shared()) {
            order.write(folder);
        }
    }

    GpuFolder folder() {
        return folder;
    }

    /** How its daemon is. */
    DaemonState state() throws IOException {
        return DaemonState.read(folder);
    }

    /**
     * What keeps a container from becoming a client.
     *
     * @param granted how many containers were given parts of the GPU up to this one
     */
    Optional<Obstacle> toShare(String podUid, String container, int granted) throws IOException {
        int checks = checks();
        Optional<Obstacle> unready = unready(podUid, container);
        if (unready.isPresent()) {
            return unready;
        }
        if (granted > mostClients) {
            return later(
                    "Its GPU %s takes %d MPS clients of pods, and this container is number %d of those that were given parts: it waits for an earlier one to end"
                            .formatted(folder.gpu(), mostClients, granted));
        }
        // Under no lock: a daemon that hangs holds up whoever asks it, and nobody else.
        return switch (control.clients()) {
            case Told<List<Long>>(var now) -> {
                if (mustBeChecked(now, key(podUid, container), checks)) {
                    yield unready(podUid, container);
                }
                yield now.size() >= mostClients ? later(full(now.size())) : Optional.empty();
            }
            case Failed<List<Long>>(var failure, String sentence) -> later(sentence);
        };
    }

    private synchronized int checks() {
        return order.check();
    }

    /**
     * Whether somebody has to wait because a client is not there any more, perhaps by a kill in the
     * midst of its work. Whoever has waited once goes on; the others wait.
     *
     * @param checks how many were ordered before the clients were listed
     */
    private synchronized boolean mustBeChecked(List<Long> now, String joining, int checks)
            throws IOException {
        boolean isOneGone = !now.containsAll(clients);
        clients = Set.copyOf(now);
        if (isOneGone) {
            want(order.checked());
        }
        return order.check() != checks && checkedFor.add(joining);
    }

    private synchronized Optional<Obstacle> unready(String podUid, String container)
            throws IOException {
        if (admitted.remove(key(podUid, container))) {
            // Its last instance ended, perhaps by a kill in the midst of its work.
            want(order.checked());
        }
        if (!order.shared()) {
            want(order.wanting(true));
        }
        DaemonState state = state();
        return state.phase() == Phase.Ready && state.follows(order)
                ? Optional.empty()
                : later(
                        "The MPS daemon of its GPU %s is not ready: %s. It is run by the DaemonSet gpusharing-mps"
                                .formatted(folder.gpu(), words(state)));
    }

    private String full(int clients) {
        return "Its GPU %s has %d MPS clients, and takes %d: the next one would fail when it starts"
                .formatted(folder.gpu(), clients, mostClients);
    }

    private static String words(DaemonState state) {
        return switch (state.phase()) {
            case Ready ->
                    "a client ended, and it is being checked whether others get work done"
                            + before(state.reason());
            case Starting -> "it is starting" + before(state.reason());
            case Stopped ->
                    state.reason().isEmpty() ? "it has not been started yet" : state.reason();
            case Failed -> state.reason();
        };
    }

    private static String before(String reason) {
        return reason.isEmpty() ? "" : "; the last time: " + reason;
    }

    /** What keeps a container from having the GPU without MPS. */
    synchronized Optional<Obstacle> toUseWithout(String podUid) throws IOException {
        // It has all of the GPU; what was a client of the pod were its steps before.
        admitted.removeIf(key -> podUid(key).equals(podUid));
        if (order.shared() && admitted.isEmpty()) {
            want(order.wanting(false));
        }
        DaemonState state = state();
        // What was told before the last change may be overtaken by a daemon that just starts.
        return state.phase() == Phase.Stopped && state.change() == order.change()
                ? Optional.empty()
                : later(
                        "Its GPU %s is still kept for MPS; the DaemonSet gpusharing-mps has to end its daemon first"
                                .formatted(folder.gpu()));
    }

    private static Optional<Obstacle> later(String reason) {
        return Optional.of(new Obstacle(reason, false));
    }

    /** A container starts as a client. */
    synchronized void admitted(String podUid, String container) {
        admitted.add(key(podUid, container));
        checkedFor.remove(key(podUid, container));
        drained.remove(podUid);
    }

    /**
     * Looks at who has gone.
     *
     * @param sharing answers who shares it, by UID; nothing where the API server knows it no more.
     *     It is asked under the lock, so that nobody joins between its answer and what follows
     */
    synchronized void look(Supplier<Map<String, Optional<NodePod>>> sharing) throws IOException {
        Map<String, Optional<NodePod>> pods = sharing.get();
        var now = new HashMap<String, String>();
        pods.forEach((uid, pod) ->
                pod.ifPresent(it ->
                        it.running().forEach((container, id) -> now.put(key(uid, container), id))));
        boolean unclean = false;
        for (Map.Entry<String, String> before : running.entrySet()) {
            String uid = podUid(before.getKey());
            unclean |=
                    !before.getValue().equals(now.get(before.getKey())) && !drained.contains(uid);
        }
        for (String key : Set.copyOf(admitted)) {
            if (!pods.containsKey(podUid(key))) {
                admitted.remove(key);
                unclean |= !drained.contains(podUid(key));
            }
        }
        running.clear();
        running.putAll(now);
        drained.retainAll(pods.keySet());
        checkedFor.removeIf(key -> !pods.containsKey(podUid(key)));
        if (pods.isEmpty()) {
            clients = Set.of();
            if (order.shared()) {
                want(order.wanting(false));
            }
            return;
        }
        // Whoever was let start needs its daemon, whatever was wanted in the meantime.
        if (!order.shared() && !admitted.isEmpty()) {
            want(order.wanting(true));
        }
        if (unclean) {
            want(order.checked());
        }
    }

    /**
     * Ends the clients of a pod through their daemon, so that those beside them live.
     *
     * @param pids of all of its processes
     */
    Drained drain(String podUid, Set<Long> pids) {
        Answer<Integer> ended = control.terminate(pids);
        synchronized (this) {
            if (ended instanceof Told) {
                var left = new HashSet<>(clients);
                left.removeAll(pids);
                clients = Set.copyOf(left);
                drained.add(podUid);
            } else {
                drained.remove(podUid);
            }
        }
        return switch (ended) {
            case Told<Integer>(Integer clients) ->
                    new Drained(clients > 0 ? Drain.Terminated : Drain.None, "");
            case Failed<Integer>(var failure, String sentence) ->
                    new Drained(Drain.Failed, sentence);
        };
    }

    private void want(DaemonOrder now) throws IOException {
        now.write(folder);
        order = now;
    }

    private static String key(String podUid, String container) {
        return podUid + "/" + container;
    }

    private static String podUid(String key) {
        return key.substring(0, key.indexOf('/'));
    }
}
