package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.statement.PodCharges.Attribute;
import io.gpusharing.timekeeper.statement.PodCharges.Condition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Which objects are meant, by the selectors that kubectl takes: {@code a=b,c!=d} of fields, of
 * labels {@code a in (b,c)}, {@code a notin (b)}, {@code a} and {@code !a}, too.
 */
final class Selector {

    /** Fields that can be selected by. */
    private static final Map<String, Attribute> FIELDS =
            Map.of(
                    "metadata.name", Attribute.NAME,
                    "metadata.namespace", Attribute.NAMESPACE,
                    "status.node", Attribute.NODE,
                    "status.budget", Attribute.BUDGET);

    /** Labels that each of our objects carries. */
    static final Map<String, Attribute> LABELS =
            Map.of("gpusharing.io/budget", Attribute.BUDGET, "gpusharing.io/node", Attribute.NODE);

    private static final Pattern EQUALITY =
            Pattern.compile("\\s*([^\\s=!]+)\\s*(==|=|!=)\\s*([^\\s=!]*)\\s*");
    private static final Pattern SET =
            Pattern.compile("\\s*([^\\s=!(),]+)\\s+(in|notin)\\s*\\(([^()]*)\\)\\s*");
    private static final Pattern EXISTENCE = Pattern.compile("\\s*(!?)\\s*([^\\s=!(),<>]+)\\s*");

    /** Nobody means more at once, and each makes the question longer. */
    private static final int MOST = 32;

    private static final Condition NOTHING = new Condition(Attribute.NAME, true, List.of());

    private Selector() {}

    /**
     * What both say together.
     *
     * @throws ResponseStatusException 400 for what is not to be understood
     */
    static List<Condition> of(@Nullable String fields, @Nullable String labels) {
        return Stream.concat(
                        parts(fields).map(Selector::field), parts(labels).flatMap(Selector::label))
                .toList();
    }

    /** What stands between commas, other than those in parentheses. */
    private static Stream<String> parts(@Nullable String selector) {
        if (selector == null || selector.isBlank()) {
            return Stream.empty();
        }
        var parts = new ArrayList<String>();
        int from = 0;
        boolean inside = false;
        for (int i = 0; i < selector.length(); i++) {
            char at = selector.charAt(i);
            inside = at == '(' || (inside && at != ')');
            if (at == ',' && !inside) {
                parts.add(selector.substring(from, i));
                from = i + 1;
            }
        }
        parts.add(selector.substring(from));
        if (parts.size() > MOST) {
            throw bad("a selector has %d parts at most".formatted(MOST));
        }
        return parts.stream();
    }

    /**
     * Which names are meant where objects have a name alone.
     *
     * @throws ResponseStatusException 400 for anything but {@code metadata.name}
     */
    static Predicate<String> names(@Nullable String fields, @Nullable String labels) {
        List<Condition> conditions = of(fields, labels);
        if (conditions.stream().anyMatch(it -> it.attribute() != Attribute.NAME)) {
            throw bad("these are chosen by the field metadata.name alone");
        }
        return name -> conditions.stream().allMatch(it -> it.in() == it.values().contains(name));
    }

    private static Condition field(String part) {
        Matcher equality = EQUALITY.matcher(part);
        Attribute attribute = equality.matches() ? FIELDS.get(equality.group(1)) : null;
        if (attribute == null) {
            throw bad(
                    "fieldSelector \"%s\": write FIELD=VALUE or FIELD!=VALUE of one of %s"
                            .formatted(part, FIELDS.keySet().stream().sorted().toList()));
        }
        return condition(attribute, equality);
    }

    private static Stream<Condition> label(String part) {
        Matcher equality = EQUALITY.matcher(part);
        if (equality.matches()) {
            return known(
                    equality.group(1),
                    !equality.group(2).equals("!="),
                    attribute -> condition(attribute, equality));
        }
        Matcher set = SET.matcher(part);
        if (set.matches()) {
            boolean in = set.group(2).equals("in");
            List<String> values = new ArrayList<>();
            for (String value : set.group(3).split(",", -1)) {
                values.add(value.strip());
            }
            return known(set.group(1), in, attribute -> new Condition(attribute, in, values));
        }
        Matcher existence = EXISTENCE.matcher(part);
        if (existence.matches()) {
            boolean wanted = existence.group(1).isEmpty();
            return wanted == LABELS.containsKey(existence.group(2))
                    ? Stream.empty()
                    : Stream.of(NOTHING);
        }
        throw bad("labelSelector \"%s\" is not to be understood".formatted(part));
    }

    /** Of a label that nothing carries. */
    private static Stream<Condition> known(
            String label, boolean in, Function<Attribute, Condition> known) {
        Attribute attribute = LABELS.get(label);
        if (attribute != null) {
            return Stream.of(known.apply(attribute));
        }
        return in ? Stream.of(NOTHING) : Stream.empty();
    }

    private static Condition condition(Attribute attribute, Matcher equality) {
        return new Condition(
                attribute, !equality.group(2).equals("!="), List.of(equality.group(3)));
    }

    private static ResponseStatusException bad(String message) {
        return new ResponseStatusException(HttpStatus.BAD_REQUEST, message);
    }
}
