package io.gpusharing.deviceplugin.cluster;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The pods of a node by UID, for one thread that writes and all that read or wait. */
final class PodTable {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();

    /** Guarded by the lock, as what follows. */
    private Map<String, NodePod> byUid = new HashMap<>();

    private boolean listed;

    Optional<NodePod> byUid(String uid) {
        lock.lock();
        try {
            return Optional.ofNullable(byUid.get(uid));
        } finally {
            lock.unlock();
        }
    }

    /** Whether it has been filled once. */
    boolean isListed() {
        lock.lock();
        try {
            return listed;
        } finally {
            lock.unlock();
        }
    }

    /** A pod, as soon as it is here, or nothing after so long. */
    Optional<NodePod> await(String uid, Duration most) throws InterruptedException {
        long left = most.toNanos();
        lock.lock();
        try {
            while (!byUid.containsKey(uid) && left > 0) {
                left = arrived.awaitNanos(left);
            }
            return Optional.ofNullable(byUid.get(uid));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Puts all pods in the place of what was here.
     *
     * @return whether that changes anything
     */
    boolean replace(Map<String, NodePod> all) {
        lock.lock();
        try {
            boolean different = !listed || !all.equals(byUid);
            byUid = all;
            listed = true;
            arrived.signalAll();
            return different;
        } finally {
            lock.unlock();
        }
    }

    /** Adds or replaces one; whether that changes anything. */
    boolean put(NodePod pod) {
        lock.lock();
        try {
            NodePod before = byUid.put(pod.uid(), pod);
            if (before == null) {
                // A name is free only when the pod that had it is gone.
                byUid.values().removeIf(other -> isSuccessor(pod, other));
            }
            arrived.signalAll();
            return !pod.equals(before);
        } finally {
            lock.unlock();
        }
    }

    /** Removes one; whether it was here. */
    boolean remove(NodePod pod) {
        lock.lock();
        try {
            return byUid.remove(pod.uid()) != null;
        } finally {
            lock.unlock();
        }
    }

    private static boolean isSuccessor(NodePod pod, NodePod of) {
        return pod.name().equals(of.name())
                && pod.namespace().equals(of.namespace())
                && !pod.uid().equals(of.uid());
    }
}
