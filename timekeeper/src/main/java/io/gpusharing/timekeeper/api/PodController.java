package io.gpusharing.timekeeper.api;

import io.gpusharing.timekeeper.ledger.PodCharges;
import io.gpusharing.timekeeper.ledger.PodCharges.PodCharge;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** What pods were charged. */
@RestController
@RequestMapping("/api/v1/pods")
class PodController {

    private static final int MOST = 1_000;

    private final PodCharges charges;
    private final Clock clock;

    PodController(PodCharges charges, Clock clock) {
        this.charges = charges;
        this.clock = clock;
    }

    /**
     * Pods with what they were charged until now, by uid, a thousand at a time.
     *
     * @param namespace only of this namespace
     * @param after uid of the last pod of the page before
     */
    @GetMapping
    List<PodCharge> all(
            @RequestParam(required = false) @Nullable String namespace,
            @RequestParam(required = false) @Nullable UUID after) {
        return charges.page(namespace, after, MOST, clock.instant());
    }

    /** One pod. */
    @GetMapping("/{uid}")
    PodCharge one(@PathVariable UUID uid) {
        return charges.of(uid, clock.instant())
                .orElseThrow(() ->
                        new ResponseStatusException(
                                HttpStatus.NOT_FOUND, "No pod " + uid + " held a GPU"));
    }
}
