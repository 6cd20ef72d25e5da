package io.gpusharing.scheduler.gpus;

/** What becomes of room that is kept for a pod. */
public enum RoomEnd {
    /** The pod is bound, there or elsewhere. */
    Taken,
    /** The pod has gone, or nobody went for it after all. */
    Dropped,
    /** The pod has not come in time. */
    Late
}
