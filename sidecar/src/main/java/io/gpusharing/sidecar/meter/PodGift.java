package io.gpusharing.sidecar.meter;

import io.gpusharing.sidecar.usage.DeviceUse;

/** What a pod was given of a device, and whether it uses more. Runs under the meter's lock. */
final class PodGift {

    /**
     * Samples are up to ten seconds old, so for so long a pod that has ended seems to use what was
     * taken back from it. Twice as long is no such mistake.
     */
    private static final long CERTAIN_AFTER_MICROS = 20_000_000;

    /** What was listed longer ago may be different by now. */
    private static final long CURRENT_MICROS = 30_000_000;

    private static final long NEVER = PodCounters.NEVER;

    /** Since when the pod was seen after each list, without having been given the device. */
    private long unaskedSince = NEVER;

    private long listedMicros = NEVER;
    private boolean unasked;

    private long memoryGranted;
    private long memoryListedMicros = NEVER;

    /** Since when the pod has held more memory after each list than it was given. */
    private long exceededSince = NEVER;

    private boolean exceeded;

    /**
     * After each list: whether the pod, if it was seen since the last one, was given the device.
     *
     * @param lastPresentMicros when the pod was seen last
     */
    void noteAsked(boolean asked, long lastPresentMicros, long now) {
        boolean seen = lastPresentMicros > listedMicros;
        listedMicros = now;
        if (asked || !seen) {
            unaskedSince = NEVER;
        } else if (unaskedSince == NEVER) {
            unaskedSince = now;
        }
        unasked = unaskedSince != NEVER && now - unaskedSince >= CERTAIN_AFTER_MICROS;
    }

    /**
     * After each list: how much memory of the device the pod was given.
     *
     * @param granted bytes; 0 where that is unknown, or all
     * @param used bytes that it holds
     */
    void noteMemory(long granted, long used, long now) {
        memoryGranted = granted;
        boolean isGap = now - memoryListedMicros > CURRENT_MICROS;
        memoryListedMicros = now;
        if (granted == 0 || used <= granted) {
            exceededSince = NEVER;
        } else if (exceededSince == NEVER || isGap) {
            exceededSince = now;
        }
        exceeded = exceededSince != NEVER && now - exceededSince >= CERTAIN_AFTER_MICROS;
    }

    /** Whether the pod uses the device without having been given it. */
    boolean isUnasked() {
        return unasked;
    }

    DeviceUse.Memory memory(long used, long now) {
        boolean isCurrent = now - memoryListedMicros <= CURRENT_MICROS;
        return new DeviceUse.Memory(used, memoryGranted, exceeded && isCurrent);
    }
}
