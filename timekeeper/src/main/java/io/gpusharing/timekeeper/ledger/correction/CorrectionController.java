package io.gpusharing.timekeeper.ledger.correction;

import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.Page;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What people corrected, and why. */
@RestController
@RequestMapping("/api/v1/budgets/{budget}/corrections")
class CorrectionController {

    private final Corrections corrections;
    private final Callers callers;

    CorrectionController(Corrections corrections, Callers callers) {
        this.corrections = corrections;
        this.callers = callers;
    }

    /**
     * A budget's corrections, latest first. Pods of namespaces where who asks may not get pods have
     * no uid.
     */
    @GetMapping
    ResponseEntity<List<Written>> all(
            @PathVariable String budget,
            @RequestParam(defaultValue = "1000") int limit,
            @RequestParam(required = false) @Nullable UUID after,
            Authentication who) {
        List<Written> page = corrections.of(budget, after, Page.size(limit));
        Set<String> shown =
                callers.podsShown(Callers.of(who), page.stream().map(Written::namespace).toList());
        return Page.of(
                page.stream()
                        .map(it -> shown.contains(it.namespace()) ? it : it.withoutPod())
                        .toList(),
                limit,
                correction -> correction.id().toString());
    }
}
