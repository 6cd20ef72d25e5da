package io.gpusharing.timekeeper.api;

import io.gpusharing.timekeeper.ledger.Corrections;
import io.gpusharing.timekeeper.ledger.PodCharges;
import io.gpusharing.timekeeper.ledger.PodCharges.PodCharge;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
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

    private final PodCharges charges;
    private final Corrections corrections;
    private final Clock clock;

    PodController(PodCharges charges, Corrections corrections, Clock clock) {
        this.charges = charges;
        this.corrections = corrections;
        this.clock = clock;
    }

    /**
     * Pods with what they were charged until now, by uid.
     *
     * @param namespace only of this namespace
     * @param after uid of the last pod of the page before
     */
    @GetMapping
    ResponseEntity<List<PodCharge>> all(
            @RequestParam(required = false) @Nullable String namespace,
            @RequestParam(defaultValue = "1000") int limit,
            @RequestParam(required = false) @Nullable UUID after) {
        return Page.of(
                charges.page(namespace, after, Page.size(limit), clock.instant()),
                limit,
                pod -> pod.uid().toString());
    }

    /** One pod. Its {@code ETag} changes with each correction; a correction may ask for it. */
    @GetMapping("/{uid}")
    ResponseEntity<PodCharge> one(@PathVariable UUID uid) {
        String tag = tag(corrections.version(uid));
        return charges.of(uid, clock.instant())
                .map(charge -> ResponseEntity.ok().eTag(tag).body(charge))
                .orElseThrow(() ->
                        new ResponseStatusException(
                                HttpStatus.NOT_FOUND, "No pod " + uid + " held a GPU"));
    }

    /** The tag of a pod that was corrected so often. */
    static String tag(long corrections) {
        return "\"" + corrections + "\"";
    }
}
