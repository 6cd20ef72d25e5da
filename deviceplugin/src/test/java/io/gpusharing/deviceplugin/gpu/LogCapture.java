package io.gpusharing.deviceplugin.gpu;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What a package logs, as text. */
final class LogCapture extends Handler {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;

    LogCapture(String name) {
        logger = Logger.getLogger(name);
        logger.addHandler(this);
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void publish(LogRecord line) {
        lines.add(line.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
    }
}
