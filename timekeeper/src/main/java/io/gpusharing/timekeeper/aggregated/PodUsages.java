package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.usage.MeasuredUse;
import io.gpusharing.timekeeper.usage.MeasuredUse.Measured;
import io.swagger.v3.oas.annotations.Hidden;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** {@code kubectl get podusages}: who holds GPUs now. What has ended is in statements. */
@Hidden
@RestController
@RequestMapping(Discovery.PATH)
class PodUsages {

    private static final String INCLUDE = "includeObject";

    /** More than a cluster has. */
    private static final int ALL = 1_000_000;

    private final HeldPods pods;
    private final MeasuredUse measured;
    private final Clock clock;

    PodUsages(HeldPods pods, MeasuredUse measured, Clock clock) {
        this.pods = pods;
        this.measured = measured;
        this.clock = clock;
    }

    /** A page of objects. */
    record PodUsageList(
            String kind, String apiVersion, Map<String, Object> metadata, List<PodUsage> items) {}

    /** Of a namespace, or of all. */
    @GetMapping({"/podusages", "/namespaces/{namespace}/podusages"})
    ResponseEntity<Object> list(
            @PathVariable(required = false) @Nullable String namespace,
            @RequestParam Map<String, String> parameters,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        Instant now = clock.instant();
        HeldPods.Page page = pods.page(namespace, parameters, ALL, now);
        List<PodUsage> usages = usages(page.pods());
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(page.metadata(), parameters.get(INCLUDE), usages, now)
                        : new PodUsageList(
                                "PodUsageList", Discovery.API_VERSION, page.metadata(), usages));
    }

    /** Of one pod. */
    @GetMapping("/namespaces/{namespace}/podusages/{name}")
    ResponseEntity<Object> one(
            @PathVariable String namespace,
            @PathVariable String name,
            @RequestParam(name = INCLUDE, required = false) @Nullable String include,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        Instant now = clock.instant();
        PodUsage usage = usages(List.of(pods.one("podusages", namespace, name, now))).getFirst();
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(Listing.metadata(null), include, List.of(usage), now)
                        : usage);
    }

    private List<PodUsage> usages(List<PodCharge> page) {
        Map<UUID, Measured> uses = measured.of(page.stream().map(PodCharge::uid).toList());
        return page.stream().map(it -> PodUsage.of(it, uses.get(it.uid()))).toList();
    }

    private static Table table(
            Map<String, Object> metadata,
            @Nullable String include,
            List<PodUsage> usages,
            Instant now) {
        return Table.of(
                metadata,
                include,
                PodUsage.COLUMNS,
                usages,
                usage -> usage.cells(now),
                PodUsage::metadata);
    }
}
