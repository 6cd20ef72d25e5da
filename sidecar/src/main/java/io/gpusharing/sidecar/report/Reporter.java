package io.gpusharing.sidecar.report;

import io.gpusharing.sidecar.usage.Counters;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Makes reports, remembers them, delivers them. Nothing queues up while the timekeeper is away: the
 * next report holds all that the missed ones would have reported.
 */
public final class Reporter {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final String meter;
    private final Counters counters;
    private final Timekeeper timekeeper;
    private final StateFile stateFile;
    private final ReportEvents events;
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong notTaken = new AtomicLong();
    private String run;
    private long sequence;
    private String lastProblem = "";
    private String lastStateProblem = "";
    private Answer.Mode lastMode = Answer.Mode.FULL;

    /**
     * @param meter {@code Sidecar} or {@code Agent}
     * @param sequence the last that the run used; 0 for a new one
     */
    public Reporter(
            String meter,
            String run,
            long sequence,
            Counters counters,
            Timekeeper timekeeper,
            StateFile stateFile,
            ReportEvents events) {
        this.meter = meter;
        this.run = run;
        this.sequence = sequence;
        this.counters = counters;
        this.timekeeper = timekeeper;
        this.stateFile = stateFile;
        this.events = events;
    }

    /** One report with the usual patience. */
    public Answer report() {
        return report(PATIENCE);
    }

    /**
     * One report.
     *
     * @param patience for connecting, and again for the answer
     */
    public Answer report(Duration patience) {
        UsageReport report = next();
        Answer answer = timekeeper.deliver(report, patience);
        note(answer);
        if (answer instanceof Answer.Refused refused && refused.runIsOver()) {
            beginAnew(report.run(), refused.reason());
        }
        return answer;
    }

    /** Counters go to the file before they go out, so no restart can ever take one back. */
    private synchronized UsageReport next() {
        UsageReport report = new UsageReport(run, ++sequence, meter, counters.usage());
        save();
        return report;
    }

    /**
     * What the refused run counted since its last report that was taken is given up: counters that
     * cannot be true are not reported under another name.
     */
    private synchronized void beginAnew(String refusedRun, String reason) {
        if (run.equals(refusedRun)) {
            run = UUID.randomUUID().toString();
            sequence = 0;
            counters.beginAnew();
            save();
            events.runRefused(refusedRun, run, reason);
        }
    }

    /** Writes the state down. */
    public synchronized void save() {
        try {
            stateFile.save(new StateFile.State(run, sequence, counters.snapshot()));
            lastStateProblem = "";
        } catch (IOException e) {
            if (!e.toString().equals(lastStateProblem)) {
                lastStateProblem = e.toString();
                events.stateNotSaved(lastStateProblem);
            }
        }
    }

    private synchronized void note(Answer answer) {
        switch (answer) {
            case Answer.Taken report -> {
                taken.incrementAndGet();
                if (!lastProblem.isEmpty() || sequence == 1) {
                    events.delivering(sequence);
                    lastProblem = "";
                }
                if (report.mode() != lastMode) {
                    lastMode = report.mode();
                    events.modeChanged(lastMode);
                }
                trust(report.ca());
            }
            case Answer.Refused refused -> problem(refused.reason());
            case Answer.Unavailable unavailable -> problem(unavailable.reason());
        }
    }

    /** How many reports the timekeeper took since the process began. */
    public long taken() {
        return taken.get();
    }

    /** How many it did not take, or never saw. */
    public long notTaken() {
        return notTaken.get();
    }

    private void problem(String reason) {
        notTaken.incrementAndGet();
        if (!reason.equals(lastProblem)) {
            lastProblem = reason;
            events.notDelivered(reason);
        }
    }

    private void trust(@Nullable String ca) {
        if (ca == null || ca.equals(timekeeper.ca())) {
            return;
        }
        try {
            timekeeper.trust(ca);
            stateFile.saveCa(ca);
            events.authorityChanged();
        } catch (GeneralSecurityException | IOException e) {
            events.stateNotSaved("the timekeeper's next CA: " + e);
        }
    }
}
