package io.gpusharing.sidecar.report;

/** What happens to reports and is worth one line: state changes only. */
public interface ReportEvents {

    /** The timekeeper takes reports, for the first time or again. */
    void delivering(long sequence);

    /** A report was not taken; logged once per reason. */
    void notDelivered(String reason);

    /** The timekeeper takes nothing more of a run, so another one begins at zero. */
    void runRefused(String run, String nextRun, String reason);

    /** The timekeeper wants more, or less. */
    void modeChanged(Answer.Mode mode);

    /** Another reporting CA is trusted from now on. */
    void authorityChanged();

    /** Counters would not outlive a restart. */
    void stateNotSaved(String reason);
}
