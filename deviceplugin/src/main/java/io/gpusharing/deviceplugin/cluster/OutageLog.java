package io.gpusharing.deviceplugin.cluster;

import org.slf4j.Logger;

/**
 * Logs that something fails, and that it works again: one line each, however often it is tried in
 * between. Belongs to one thread.
 */
final class OutageLog {

    private final Logger log;
    private final String part;
    private boolean failing;

    /**
     * @param part what fails, as a noun: {@code pod watch}
     */
    OutageLog(Logger log, String part) {
        this.log = log;
        this.part = part;
    }

    /** An attempt failed. */
    void failed(Throwable problem) {
        if (failing) {
            return;
        }
        failing = true;
        String reason = problem.getMessage();
        log.atWarn()
                .addKeyValue("part", part)
                .addKeyValue("reason", reason == null ? problem.toString() : reason)
                .log("failing, trying again");
    }

    /** An attempt succeeded. */
    void over() {
        if (failing) {
            failing = false;
            log.atInfo().addKeyValue("part", part).log("working again");
        }
    }
}
