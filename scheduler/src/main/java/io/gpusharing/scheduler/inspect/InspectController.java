package io.gpusharing.scheduler.inspect;

import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Answers who has which GPU, from what placing knows. Nothing is changed by it. */
@RestController
@RequestMapping("/gpushare-scheduler/inspect")
class InspectController {

    /** Nobody is placed while all nodes are looked at, so however many ask, it is done seldom. */
    private static final Duration KEPT = Duration.ofSeconds(1);

    private final ClusterKnowledge cluster;
    private final ClusterGpus gpus;
    private final Clock clock;
    private @Nullable Inspection last;
    private Instant looked = Instant.MIN;

    InspectController(ClusterKnowledge cluster, ClusterGpus gpus, Clock clock) {
        this.cluster = cluster;
        this.gpus = gpus;
        this.clock = clock;
    }

    /** All nodes, as they were a second ago at most. */
    @GetMapping
    ResponseEntity<Inspection> all() {
        return cluster.isKnown() ? ResponseEntity.ok(inspection()) : unknown();
    }

    /** One node; one that shares no GPUs is an error in words, and as such answered 200. */
    @GetMapping("/{node}")
    ResponseEntity<Inspection> one(@PathVariable String node) {
        return cluster.isKnown()
                ? ResponseEntity.ok(
                        gpus.memory(node)
                                .map(found -> Inspection.of(List.of(found)))
                                .orElseGet(() ->
                                        Inspection.failed(
                                                "node %s shares no GPUs".formatted(node))))
                : unknown();
    }

    private static ResponseEntity<Inspection> unknown() {
        return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
                .body(Inspection.failed("the extender has not read the cluster's GPUs yet"));
    }

    private synchronized Inspection inspection() {
        Instant now = clock.instant();
        Inspection known = last;
        if (known == null || !now.isBefore(looked.plus(KEPT))) {
            known = Inspection.of(gpus.memory());
            last = known;
            looked = now;
        }
        return known;
    }
}
