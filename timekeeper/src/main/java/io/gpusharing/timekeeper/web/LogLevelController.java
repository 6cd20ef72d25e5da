package io.gpusharing.timekeeper.web;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggerConfiguration;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Log levels of our own loggers, which can be changed at run time. Only of our own: at their finest
 * levels, HTTP servers and clients log headers, and with them the callers' tokens.
 */
@RestController
@RequestMapping(LogLevelController.PATH)
class LogLevelController {

    static final String PATH = "/api/v1/loggers";

    private static final Logger log = LoggerFactory.getLogger(LogLevelController.class);
    private static final String OURS = "io.gpusharing";

    private final LoggingSystem logging;

    LogLevelController() {
        this.logging = LoggingSystem.get(LogLevelController.class.getClassLoader());
    }

    /**
     * How much a logger writes.
     *
     * @param level absent for as much as its parent
     */
    record Level(@Nullable String level) {}

    /** Our loggers with their levels. */
    @GetMapping
    Map<String, String> all() {
        var levels = new TreeMap<String, String>();
        for (LoggerConfiguration logger : logging.getLoggerConfigurations()) {
            if (isOurs(logger.getName())) {
                levels.put(logger.getName(), String.valueOf(logger.getEffectiveLevel()));
            }
        }
        return levels;
    }

    /** From now on, until we start anew. */
    @PutMapping("/{name}")
    Level set(@PathVariable String name, @RequestBody Level wanted) {
        if (!isOurs(name)) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "Only loggers of %s can be changed: others may write tokens".formatted(OURS));
        }
        logging.setLogLevel(name, level(wanted.level()));
        log.atInfo()
                .addKeyValue("logger", name)
                .addKeyValue("level", wanted.level())
                .log("log level changed");
        return wanted;
    }

    private static boolean isOurs(String logger) {
        return logger.equals(OURS) || logger.startsWith(OURS + ".");
    }

    private static @Nullable LogLevel level(@Nullable String name) {
        if (name == null) {
            return null;
        }
        try {
            return LogLevel.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "level is one of trace, debug, info, warn",
                    e);
        }
    }
}
