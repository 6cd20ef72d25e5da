package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.statement.PodCharges;
import io.gpusharing.timekeeper.statement.PodCharges.Attribute;
import io.gpusharing.timekeeper.statement.PodCharges.Condition;
import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.statement.PodCharges.Position;
import io.gpusharing.timekeeper.usage.MeasuredUse;
import io.gpusharing.timekeeper.usage.MeasuredUse.Measured;
import io.swagger.v3.oas.annotations.Hidden;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** {@code kubectl get podusages}: who holds GPUs now. What has ended is in statements. */
@Hidden
@RestController
@RequestMapping(Discovery.PATH)
class PodUsages {

    private static final String INCLUDE = "includeObject";

    /** More than a cluster has. */
    private static final int ALL = 1_000_000;

    /** Of one name there is one pod, and perhaps others whose end was not seen yet. */
    private static final int SEVERAL = 10;

    private final PodCharges charges;
    private final MeasuredUse measured;
    private final Clock clock;

    PodUsages(PodCharges charges, MeasuredUse measured, Clock clock) {
        this.charges = charges;
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
        Listing listing = Listing.of(parameters);
        var conditions =
                new ArrayList<>(
                        Selector.of(
                                parameters.get("fieldSelector"), parameters.get("labelSelector")));
        if (namespace != null) {
            conditions.add(new Condition(Attribute.NAMESPACE, true, List.of(namespace)));
        }
        Instant now = clock.instant();
        int limit = Objects.requireNonNullElse(listing.limit(), ALL);
        List<PodCharge> found = charges.held(conditions, position(listing), limit + 1, now);
        boolean goesOn = found.size() > limit;
        List<PodUsage> page = usages(goesOn ? found.subList(0, limit) : found);
        Map<String, Object> metadata =
                Listing.metadata(goesOn ? Listing.continued(page.getLast().position()) : null);
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(metadata, parameters.get(INCLUDE), page, now)
                        : new PodUsageList("PodUsageList", Discovery.API_VERSION, metadata, page));
    }

    /** Of one pod; of several that had the name, the one that began last. */
    @GetMapping("/namespaces/{namespace}/podusages/{name}")
    ResponseEntity<Object> one(
            @PathVariable String namespace,
            @PathVariable String name,
            @RequestParam(name = INCLUDE, required = false) @Nullable String include,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        Instant now = clock.instant();
        List<PodUsage> found =
                usages(
                        charges.held(
                                List.of(
                                        new Condition(
                                                Attribute.NAMESPACE, true, List.of(namespace)),
                                        new Condition(Attribute.NAME, true, List.of(name))),
                                null,
                                SEVERAL,
                                now));
        PodUsage usage =
                found.stream()
                        .max(Comparator.comparing(it -> it.status().since()))
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "podusages.%s \"%s\" not found: no such pod holds a GPU now"
                                                .formatted(Discovery.GROUP, name)));
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(Listing.metadata(null), include, List.of(usage), now)
                        : usage);
    }

    private static @Nullable Position position(Listing listing) {
        List<String> after = listing.after();
        if (after == null) {
            return null;
        }
        try {
            return new Position(after.get(0), after.get(1), UUID.fromString(after.get(2)));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "continue is none of ours", e);
        }
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
