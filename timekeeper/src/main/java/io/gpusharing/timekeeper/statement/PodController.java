package io.gpusharing.timekeeper.statement;

import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.NamespaceParameter;
import io.gpusharing.timekeeper.web.Page;
import io.gpusharing.web.Caller;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** What pods were charged. */
@RestController
@RequestMapping("/api/v1/pods")
public class PodController {

    private final PodCharges charges;
    private final Callers callers;
    private final Clock clock;

    PodController(PodCharges charges, Callers callers, Clock clock) {
        this.charges = charges;
        this.callers = callers;
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
                charges.page(
                        NamespaceParameter.checked(namespace),
                        after,
                        Page.size(limit),
                        clock.instant()),
                limit,
                pod -> pod.uid().toString());
    }

    /** One pod. */
    @GetMapping("/{uid}")
    PodCharge one(@PathVariable UUID uid, Authentication caller) {
        Caller who = Callers.of(caller);
        PodCharge charge =
                charges.of(uid, clock.instant())
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND, "No pod " + uid + " held a GPU"));
        if (!callers.mayReadPods(who, charge.namespace())) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN, "This needs the right to get pods in its namespace");
        }
        return charge;
    }
}
