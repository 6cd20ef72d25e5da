package io.gpusharing.timekeeper.budget.status;

import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Metrics that name budgets and namespaces, for whom the cluster lets read metrics. */
@RestController
class BudgetMetricsController {

    private static final MediaType TEXT =
            MediaType.parseMediaType("text/plain; version=0.0.4; charset=utf-8");

    private final BudgetMetrics metrics;

    BudgetMetricsController(BudgetMetrics metrics) {
        this.metrics = metrics;
    }

    @GetMapping("/api/v1/metrics")
    ResponseEntity<String> metrics() {
        return ResponseEntity.ok().contentType(TEXT).body(metrics.page());
    }
}
