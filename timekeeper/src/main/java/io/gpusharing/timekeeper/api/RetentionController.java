package io.gpusharing.timekeeper.api;

import io.gpusharing.timekeeper.ledger.Retention;
import io.gpusharing.timekeeper.ledger.Retention.Setting;
import io.swagger.v3.oas.annotations.media.Schema;
import java.time.DateTimeException;
import java.time.Period;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.JsonNode;

/** How long single charges are kept, which can be changed at run time. */
@RestController
@RequestMapping(RetentionController.PATH)
class RetentionController {

    static final String PATH = "/api/v1/retention";

    private static final Logger log = LoggerFactory.getLogger(RetentionController.class);
    private static final String LEGAL =
            "keepCharges is a text of whole months or years such as P13M, P0M for ever, or null for what is configured; not %s";

    private final Retention retention;

    RetentionController(Retention retention) {
        this.retention = retention;
    }

    enum Source {
        Configuration,
        Set
    }

    /**
     * What holds.
     *
     * @param keepCharges whole months, ISO 8601; P0M for ever
     * @param source whether it was set at run time
     * @param configured what holds unless something is set
     */
    record View(String keepCharges, Source source, String configured) {

        private static View of(Setting setting) {
            return new View(
                    text(setting.months()),
                    setting.isSet() ? Source.Set : Source.Configuration,
                    text(setting.configured()));
        }

        private static String text(int months) {
            return "P%dM".formatted(months);
        }
    }

    /**
     * What shall hold.
     *
     * @param keepCharges null for what is configured; a node, because one that is missing is none
     */
    record Order(
            @Schema(
                            implementation = String.class,
                            types = {"string", "null"},
                            example = "P13M",
                            requiredMode = Schema.RequiredMode.REQUIRED)
                    @Nullable JsonNode keepCharges) {}

    /** How long single charges are kept, and whether that is as configured. */
    @GetMapping
    View now() {
        return View.of(retention.now());
    }

    /** For all replicas, and over restarts; the leader follows within seconds. */
    @PutMapping
    View set(@RequestBody Order order, Authentication caller) {
        Integer months = months(order.keepCharges());
        if (months != null && retention.isRefused(months)) {
            throw refused(
                    "Other clusters share this database, and what is dropped is dropped for all: set no less than the configured %s"
                            .formatted(now().configured()));
        }
        if (!retention.set(months)) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "The ledger has not begun; ask again in a few seconds");
        }
        log.atInfo()
                .addKeyValue("months", months)
                .addKeyValue("by", caller.getName())
                .log("retention changed");
        return now();
    }

    private static @Nullable Integer months(@Nullable JsonNode keepCharges) {
        if (keepCharges != null && keepCharges.isNull()) {
            return null;
        }
        if (keepCharges == null || !keepCharges.isString()) {
            throw refused(LEGAL.formatted(keepCharges == null ? "missing" : keepCharges));
        }
        try {
            Period period = Period.parse(keepCharges.asString());
            if (Retention.isLegal(period)) {
                return Math.toIntExact(period.toTotalMonths());
            }
        } catch (DateTimeException e) {
            log.atDebug().setCause(e).log("no period");
        }
        throw refused(LEGAL.formatted(keepCharges));
    }

    private static ResponseStatusException refused(String why) {
        return new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, why);
    }
}
