package io.gpusharing.cli.budget;

import io.gpusharing.budget.GpuBudgetSpec;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** In which zone the days of a budget begin. */
public final class BudgetZone {

    private BudgetZone() {}

    /** The zone of its periods; UTC where it names none that there is. */
    public static ZoneId of(GpuBudgetSpec spec) {
        try {
            return ZoneId.of(spec.period().timeZone());
        } catch (DateTimeException e) {
            return ZoneOffset.UTC;
        }
    }
}
