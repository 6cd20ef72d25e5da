package io.gpusharing.webhook.review;

import static io.gpusharing.webhook.review.JsonFields.isObject;
import static io.gpusharing.webhook.review.JsonFields.list;
import static io.gpusharing.webhook.review.JsonFields.nextField;
import static io.gpusharing.webhook.review.JsonFields.textOrEmpty;

import io.gpusharing.webhook.review.Platforms.Requirement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;

/** Reads from one pod's spec on which platforms it may run; of the rest nothing is kept. */
final class PlatformReader {

    private final JsonParser json;
    private final List<Requirement> all = new ArrayList<>();
    private List<List<Requirement>> anyOf = List.of();

    PlatformReader(JsonParser json) {
        this.json = json;
    }

    Platforms platforms() {
        return all.isEmpty() && anyOf.isEmpty() ? Platforms.ANY : new Platforms(all, anyOf);
    }

    /** Reads {@code spec.os}, whose name is a value of the nodes' label. */
    void os() {
        String name = JsonFields.field(json, "name", JsonFields::text);
        if (name != null) {
            all.add(new Requirement(Platforms.OS, "In", Set.of(name)));
        }
    }

    /** Reads {@code spec.nodeSelector}. */
    void nodeSelector() {
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                String label = label(name);
                if (label == null) {
                    json.skipChildren();
                } else {
                    all.add(new Requirement(label, "In", Set.of(textOrEmpty(json))));
                }
            }
        }
    }

    /** Reads {@code spec.affinity}, of which only what a node must have decides. */
    void affinity() {
        List<List<Requirement>> terms =
                JsonFields.field(
                        json,
                        "nodeAffinity",
                        affinity ->
                                JsonFields.field(
                                        affinity,
                                        "requiredDuringSchedulingIgnoredDuringExecution",
                                        required ->
                                                JsonFields.field(
                                                        required,
                                                        "nodeSelectorTerms",
                                                        _ -> list(json, this::term))));
        anyOf = Objects.requireNonNullElse(terms, List.of());
    }

    private List<Requirement> term() {
        List<Optional<Requirement>> requirements =
                JsonFields.field(json, "matchExpressions", _ -> list(json, this::requirement));
        return requirements == null
                ? List.of()
                : requirements.stream().flatMap(Optional::stream).toList();
    }

    /** Empty if it is about another label. */
    private Optional<Requirement> requirement() {
        String label = null;
        String operator = "";
        Set<String> values = new HashSet<>();
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                switch (name) {
                    case "key" -> label = label(textOrEmpty(json));
                    case "operator" -> operator = textOrEmpty(json);
                    case "values" -> {
                        List<String> found = list(json, () -> textOrEmpty(json));
                        values.addAll(found == null ? List.of() : found);
                    }
                    default -> json.skipChildren();
                }
            }
        }
        return label == null
                ? Optional.empty()
                : Optional.of(new Requirement(label, operator, values));
    }

    /** The label by its present name; null if it does not say what a node's platform is. */
    private static @Nullable String label(String name) {
        return switch (name) {
            case Platforms.OS, "beta.kubernetes.io/os" -> Platforms.OS;
            case Platforms.ARCHITECTURE, "beta.kubernetes.io/arch" -> Platforms.ARCHITECTURE;
            default -> null;
        };
    }
}
