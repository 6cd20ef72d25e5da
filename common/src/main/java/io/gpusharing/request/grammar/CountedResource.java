package io.gpusharing.request.grammar;

import static io.gpusharing.request.Rule.LIMIT_NEEDED;
import static io.gpusharing.request.Rule.NOT_NEGATIVE;
import static io.gpusharing.request.Rule.REQUEST_EQUALS_LIMIT;
import static io.gpusharing.request.Rule.TOO_LARGE;
import static io.gpusharing.request.Rule.WHOLE_NUMBER;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.Rule;
import io.gpusharing.request.Violation;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * An extended resource, by the rules that Kubernetes has for all of them: whole units, asked for
 * under limits, requests equal to limits.
 *
 * @param name for instance {@code nvidia.com/gpu}
 * @param most more units than this are refused; keeps every sum of micro-GPUs far from the end of a
 *     long
 * @param example what to write instead of an illegal amount
 * @param mebibytes of device memory that one unit stands for; 0 for other resources, and where the
 *     device plugin decides it
 */
record CountedResource(String name, long most, String example, long mebibytes) {

    /** Enough for any cluster. */
    static final long A_MILLION = 1_000_000;

    private static final BigDecimal MEBIBYTE = BigDecimal.valueOf(1 << 20);

    CountedResource(String name, long most, String example) {
        this(name, most, example, 0);
    }

    /** Units that the container asks for; 0 where there are none or no legal number. */
    long units(ContainerRequest container) {
        Quantity amount = amount(container);
        if (amount == null) {
            return 0;
        }
        long units = amount.wholeNumber().orElse(0);
        return units > 0 && units <= most ? units : 0;
    }

    /** Adds what is wrong with the amount by itself; at most one violation. */
    void check(ContainerRequest container, List<Violation> violations) {
        Quantity amount = amount(container);
        if (amount == null) {
            return;
        }
        Quantity limit = container.limits().get(name);
        Quantity request = container.requests().get(name);
        OptionalLong units = amount.wholeNumber();
        if (limit == null && !amount.isZero()) {
            violations.add(
                    new Violation(
                            container.name(),
                            "resources.limits",
                            name,
                            "not set",
                            LIMIT_NEEDED,
                            amount.text()));
        } else if (amount.value().signum() < 0) {
            violations.add(violation(container, NOT_NEGATIVE, example));
        } else if (units.isEmpty() && !amount.isWhole()) {
            violations.add(violation(container, WHOLE_NUMBER, example));
        } else if (units.isEmpty() || units.getAsLong() > most) {
            violations.add(violation(container, TOO_LARGE, inUnits(amount)));
        } else if (limit != null && request != null && !limit.equals(request)) {
            violations.add(
                    new Violation(
                            container.name(),
                            "resources.requests",
                            name,
                            request.text(),
                            REQUEST_EQUALS_LIMIT,
                            limit.text()));
        }
    }

    /** What to write for an amount of memory in bytes; the example where it is none. */
    private String inUnits(Quantity amount) {
        if (mebibytes == 0) {
            return example;
        }
        BigDecimal unit = MEBIBYTE.multiply(BigDecimal.valueOf(mebibytes));
        BigDecimal units = amount.value().divide(unit, 0, RoundingMode.CEILING);
        return units.compareTo(BigDecimal.valueOf(most)) > 0
                ? example
                : "%s if you mean %s of memory: one unit is %d MiB"
                        .formatted(units.toBigInteger(), amount.text(), mebibytes);
    }

    /** A broken rule, with the amount and the field as the user wrote them. */
    Violation violation(ContainerRequest container, Rule rule, String legal) {
        Quantity amount = amount(container);
        boolean onlyRequested = amount != null && !container.limits().containsKey(name);
        return new Violation(
                container.name(),
                onlyRequested ? "resources.requests" : "resources.limits",
                name,
                amount == null ? "not set" : amount.text(),
                rule,
                legal);
    }

    private @Nullable Quantity amount(ContainerRequest container) {
        Quantity limit = container.limits().get(name);
        return limit != null ? limit : container.requests().get(name);
    }
}
