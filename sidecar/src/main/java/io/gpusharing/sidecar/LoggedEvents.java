package io.gpusharing.sidecar;

import io.gpusharing.sidecar.attribution.GrantEvents;
import io.gpusharing.sidecar.meter.MeterEvents;
import io.gpusharing.sidecar.report.Answer;
import io.gpusharing.sidecar.report.ReportEvents;
import io.gpusharing.sidecar.usage.Basis;
import java.util.List;

/** Says in the log what happens to meter, grants and reports. */
record LoggedEvents(EventLog log) implements MeterEvents, GrantEvents, ReportEvents {

    @Override
    public void libraryOpened(String place) {
        log.event("nvml library opened", "place", place);
    }

    @Override
    public void libraryMissing(List<String> places) {
        log.event("nvml library not found", "tried", String.join(", ", places));
    }

    @Override
    public void initialised(String driverVersion) {
        log.event("nvml initialised", "driver", driverVersion);
    }

    @Override
    public void closed(String reason) {
        log.event("nvml unusable", "reason", reason);
    }

    @Override
    public void basisChanged(String uuid, Basis basis, String reason) {
        log.event("basis changed", "gpu", uuid, "basis", basis.wire(), "reason", reason);
    }

    @Override
    public void clockJumped(long micros) {
        log.event("wall clock was set", "byMicros", micros);
    }

    @Override
    public void leaving(String reason) {
        log.event("this container cannot meter any more", "reason", reason);
    }

    @Override
    public void grantsRead() {
        log.event("the device plugin's grants say who may use which GPU");
    }

    @Override
    public void grantsUnreadable(String reason) {
        log.event("the device plugin's grants are unusable, all is as without", "reason", reason);
    }

    @Override
    public void grantsGone() {
        log.event("the device plugin's grants are gone, all is as without");
    }

    @Override
    public void delivering(long sequence) {
        log.event("timekeeper takes reports", "sequence", sequence);
    }

    @Override
    public void notDelivered(String reason) {
        log.event("report not taken, the next one will contain all", "reason", reason);
    }

    @Override
    public void runRefused(String run, String nextRun, String reason) {
        log.event("run refused, another begins", "run", run, "next", nextRun, "reason", reason);
    }

    @Override
    public void modeChanged(Answer.Mode mode) {
        log.event("timekeeper changed the mode", "mode", mode);
    }

    @Override
    public void authorityChanged() {
        log.event("another reporting CA is trusted from now on");
    }

    @Override
    public void stateNotSaved(String reason) {
        log.event("state cannot be kept over a restart", "reason", reason);
    }
}
