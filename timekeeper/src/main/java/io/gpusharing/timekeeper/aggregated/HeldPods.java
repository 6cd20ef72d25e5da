package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.statement.PodCharges;
import io.gpusharing.timekeeper.statement.PodCharges.Attribute;
import io.gpusharing.timekeeper.statement.PodCharges.Condition;
import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.statement.PodCharges.Position;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/** Pods that hold GPUs now, as API servers and kubectl ask for them. */
@Component
class HeldPods {

    /** Of one name there is one pod, and perhaps others whose end was not seen yet. */
    private static final int SEVERAL = 10;

    private final PodCharges charges;

    HeldPods(PodCharges charges) {
        this.charges = charges;
    }

    /**
     * A page.
     *
     * @param metadata of the list that it is
     */
    record Page(Map<String, Object> metadata, List<PodCharge> pods) {}

    /**
     * The page that is asked for.
     *
     * @param namespace null for all
     * @param most how long it is if no limit is set
     * @throws ResponseStatusException if the parameters are not to be understood
     */
    Page page(@Nullable String namespace, Map<String, String> parameters, int most, Instant now) {
        Listing listing = Listing.of(parameters);
        var conditions =
                new ArrayList<>(
                        Selector.of(
                                parameters.get("fieldSelector"), parameters.get("labelSelector")));
        if (namespace != null) {
            conditions.add(new Condition(Attribute.NAMESPACE, true, List.of(namespace)));
        }
        int limit = Objects.requireNonNullElse(listing.limit(), most);
        List<PodCharge> found = charges.held(conditions, position(listing), limit + 1, now);
        boolean goesOn = found.size() > limit;
        List<PodCharge> page = goesOn ? found.subList(0, limit) : found;
        return new Page(
                Listing.metadata(goesOn ? Listing.continued(position(page.getLast())) : null),
                page);
    }

    /**
     * One pod; of several that had the name, the one that began last.
     *
     * @param resource what is asked of it
     * @throws ResponseStatusException 404 if no such pod holds a GPU
     */
    PodCharge one(String resource, String namespace, String name, Instant now) {
        return charges
                .held(
                        List.of(
                                new Condition(Attribute.NAMESPACE, true, List.of(namespace)),
                                new Condition(Attribute.NAME, true, List.of(name))),
                        null,
                        SEVERAL,
                        now)
                .stream()
                .max(Comparator.comparing(PodCharge::from))
                .orElseThrow(() ->
                        new ResponseStatusException(
                                HttpStatus.NOT_FOUND,
                                "%s.%s \"%s\" not found: no such pod holds a GPU now"
                                        .formatted(resource, Discovery.GROUP, name)));
    }

    private static List<String> position(PodCharge pod) {
        return List.of(pod.namespace(), pod.name(), pod.uid().toString());
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
}
