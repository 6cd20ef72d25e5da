package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetSpec.ChargeBy;
import io.gpusharing.budget.GpuBudgetSpec.Debt;
import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.GpuBudgetSpec.PeriodSpec;
import io.gpusharing.budget.GpuBudgetSpec.Rollover;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.budget.ShareRule.Reference;
import io.gpusharing.timekeeper.audit.ClosedPeriodCheck;
import io.gpusharing.timekeeper.audit.Recomputation;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.budget.store.PayerRepository;
import io.gpusharing.timekeeper.budget.store.PeriodRepository;
import io.gpusharing.timekeeper.budget.store.TermsRepository;
import io.gpusharing.timekeeper.database.Snapshot;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Budgets for tests, also of other packages. */
public final class TestBudgets {

    private TestBudgets() {}

    /** All accounts on a database, without a budget yet. */
    public static Budgets on(TestDatabase database, Duration periodCloses, Clock clock) {
        return on(database, periodCloses, clock, "Unlimited");
    }

    /**
     * @param unnamed what applies to namespaces that no budget names
     */
    public static Budgets on(
            TestDatabase database, Duration periodCloses, Clock clock, String unnamed) {
        return new Budgets(
                new PeriodRepository(database.rows()),
                new GrantRepository(database.rows()),
                new UsageRepository(database.rows()),
                new TermsRepository(database.rows(), clock),
                new PayerRepository(database.rows()),
                new BudgetProperties(
                        BudgetProperties.UnnamedNamespaces.valueOf(unnamed),
                        "100",
                        periodCloses,
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(30),
                        false,
                        List.of()),
                clock);
    }

    /** The balances by the ledger of a database. */
    public static Balances balances(TestDatabase database, Clock clock) {
        return new Balances(
                new Snapshot(database.jdbc(), database.transactions()),
                new PeriodRepository(database.rows()),
                new GrantRepository(database.rows()),
                new TermsRepository(database.rows(), clock),
                new UsageRepository(database.rows()));
    }

    /** What recomputes the periods of a database. */
    public static Recomputation closings(TestDatabase database, Clock clock) {
        return new ClosedPeriodCheck(
                new PeriodRepository(database.rows()),
                new GrantRepository(database.rows()),
                new TermsRepository(database.rows(), clock),
                new UsageRepository(database.rows()));
    }

    /** These budgets exist now. */
    public static void exist(Budgets budgets, List<Written> written) {
        budgets.known(written.stream().map(Written::budget).toList());
    }

    /** These budgets exist now, and the ledger writer is busy. */
    public static void seen(Budgets budgets, List<Written> written) {
        budgets.seen(written.stream().map(Written::budget).toList());
    }

    /** These grants exist now. */
    public static void grant(Budgets budgets, List<Given> given) {
        budgets.granted(given.stream().map(Given::grant).toList());
    }

    /**
     * GPU-minutes on top of a budget.
     *
     * @param expires null for the end of the period in which it begins
     */
    public record Given(
            String name, String budget, String minutes, Instant from, @Nullable Instant expires) {

        public Given(String name, String budget, String minutes, Instant from) {
            this(name, budget, minutes, from, null);
        }

        Grant grant() {
            return new Grant(
                    "uid-" + name,
                    name,
                    budget,
                    GpuTime.ofMinutes(minutes),
                    "paper deadline",
                    "kubernetes-admin",
                    from,
                    expires);
        }
    }

    /**
     * What an administrator wrote.
     *
     * @param at when, if the API server says so
     */
    public record Written(
            String name,
            Instant created,
            long generation,
            GpuBudgetSpec spec,
            boolean byDefault,
            @Nullable Instant at) {

        public Written(
                String name,
                Instant created,
                long generation,
                GpuBudgetSpec spec,
                boolean byDefault) {
            this(name, created, generation, spec, byDefault, null);
        }

        public Budget budget() {
            return new Budget(
                    name,
                    "uid-" + name,
                    generation,
                    created,
                    at,
                    spec,
                    byDefault,
                    null,
                    InvalidSpec.of(spec).orElse(null));
        }

        /** Its periods are cut so. */
        public Written every(Unit unit, String zone, String anchor) {
            return edited(new PeriodSpec(unit, zone, anchor), spec.chargeBy(), spec.share());
        }

        /** So much of a GPU, in core units and blocks of memory, counts as one. */
        public Written fixed(long compute, long memory) {
            return edited(
                    spec.period(),
                    spec.chargeBy(),
                    new Share(Formula.Max, Reference.Fixed, new Fixed(compute, memory)));
        }

        /** It was edited before, so this is its generation now. */
        public Written ofGeneration(long number) {
            return new Written(name, created, number, spec, byDefault);
        }

        /** Its spec was written then. */
        public Written writtenAt(Instant instant) {
            return new Written(name, created, generation, spec, byDefault, instant);
        }

        /** It charges by measured use. */
        public Written byUse() {
            return edited(spec.period(), ChargeBy.Utilization, spec.share());
        }

        private Written edited(PeriodSpec period, ChargeBy chargeBy, Share share) {
            return new Written(
                    name,
                    created,
                    generation + 1,
                    new GpuBudgetSpec(
                            spec.namespaces(),
                            spec.gpuMinutes(),
                            period,
                            spec.rollover(),
                            spec.debt(),
                            spec.onExhausted(),
                            chargeBy,
                            share,
                            spec.warnAtPercent(),
                            spec.minimumRunTime()),
                    byDefault);
        }

        /** Not by an administrator, but by the timekeeper itself. */
        public Written byDefaultItself() {
            return new Written(name, created, generation, spec, true);
        }
    }

    /** A monthly budget in UTC without rollover, as most are. */
    public static Written monthly(
            String name, Instant created, @Nullable String minutes, String... namespaces) {
        return budget(name, created, minutes, Unit.Month, "UTC", "0", 25, namespaces);
    }

    /**
     * A limited budget.
     *
     * @param minutes null for an unlimited one
     */
    public static Written budget(
            String name,
            Instant created,
            @Nullable String minutes,
            Unit unit,
            String zone,
            String rollover,
            int debt,
            String... namespaces) {
        return new Written(
                name,
                created,
                1,
                new GpuBudgetSpec(
                        List.of(namespaces),
                        minutes,
                        new PeriodSpec(unit, zone, "2026-01-01T00:00:00"),
                        new Rollover(rollover),
                        new Debt(debt),
                        OnExhausted.LowerPriority,
                        ChargeBy.Allocation,
                        new Share(Formula.Max, Reference.WholeGpu, null),
                        List.of(80, 95),
                        "5m"),
                false);
    }
}
