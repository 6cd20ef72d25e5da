package io.gpusharing.scheduler.drift;

import io.gpusharing.scheduler.gpus.Drift;

/** Tells people of what does not agree. */
interface DriftNotice {

    /** Once for each that lasts; it is not tried again where that fails. */
    void tell(Drift drift);
}
