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
import org.springframework.web.bind.annotation.RequestAttribute;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Answers who has which GPU, from what placing knows. Nothing is changed by it. Pods are named to
 * those of whom {@link Inspection#SHOWS_PODS} says that they may see them.
 */
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
    ResponseEntity<Inspection> all(
            @RequestAttribute(name = Inspection.SHOWS_PODS, required = false)
                    @Nullable Boolean pods) {
        return cluster.isKnown() ? shown(inspection(), pods) : unknown();
    }

    /** One node; one that shares no GPUs is an error in words, and as such answered 200. */
    @GetMapping("/{node}")
    ResponseEntity<Inspection> one(
            @PathVariable String node,
            @RequestAttribute(name = Inspection.SHOWS_PODS, required = false)
                    @Nullable Boolean pods) {
        return cluster.isKnown()
                ? shown(
                        gpus.memory(node)
                                .map(found -> Inspection.of(List.of(found)))
                                .orElseGet(() ->
                                        Inspection.failed(
                                                "node %s shares no GPUs".formatted(node))),
                        pods)
                : unknown();
    }

    private static ResponseEntity<Inspection> shown(Inspection all, @Nullable Boolean pods) {
        return ResponseEntity.ok(Boolean.TRUE.equals(pods) ? all : all.withoutPods());
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
