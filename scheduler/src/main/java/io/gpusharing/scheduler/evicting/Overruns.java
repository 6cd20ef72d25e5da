package io.gpusharing.scheduler.evicting;

import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEviction.Waiter;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.Doubts;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.budgets.KnownBudget;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Whether budgets still say what a plan of reclaim was made by. They are read as they are stored
 * now, each once.
 */
final class Overruns {

    private final Budgets budgets;
    private final FreshBudgets fresh;
    private final InstantSource clock;

    Overruns(Budgets budgets, FreshBudgets fresh, InstantSource clock) {
        this.budgets = budgets;
        this.fresh = fresh;
        this.clock = clock;
    }

    /** Whether all budgets and grants have been listed: before that nothing follows from them. */
    boolean areKnown() {
        return budgets.areKnown() && fresh.knowsGrants();
    }

    /**
     * Why nobody may be evicted for a plan now; empty if the budgets of all its victims are used up
     * and its waiter's is not, as they are stored now, and that may be acted on.
     *
     * @throws io.fabric8.kubernetes.client.KubernetesClientException if the API server does not
     *     answer
     */
    Optional<String> whyNot(EvictionPlan plan) {
        if (fresh.isPaused()) {
            return Optional.of("reclaim is paused");
        }
        var decision = new Decision(clock.instant());
        return plan.waiter()
                .flatMap(decision::ofWaiter)
                .or(() ->
                        plan.victims().stream()
                                .map(Planned::of)
                                // Of a gang of hundreds it is one.
                                .distinct()
                                .flatMap(planned -> decision.ofVictims(planned).stream())
                                .findFirst());
    }

    /**
     * Who pays for a namespace.
     *
     * @param budget null if none does
     */
    private record Payer(String namespace, @Nullable String budget) {}

    /**
     * What a plan says of some of its victims.
     *
     * @param lowered whether they were admitted over budget, with the class of that
     */
    private record Planned(Payer payer, boolean lowered) {

        static Planned of(Victim victim) {
            return new Planned(
                    new Payer(victim.namespace(), victim.budget()),
                    Boolean.TRUE.equals(victim.lowered()));
        }
    }

    /** What is known at one instant. The doubts come first: they hold for what is read later. */
    private final class Decision {

        private final Instant now;
        private final Doubts doubts;
        private final Map<String, Optional<KnownBudget>> stored = new HashMap<>();

        Decision(Instant now) {
            this.now = now;
            this.doubts = fresh.doubts(now);
        }

        private Optional<KnownBudget> stored(String name) {
            return stored.computeIfAbsent(name, it -> fresh.afresh(it, now));
        }

        private Payer payer(String namespace) {
            return new Payer(
                    namespace, budgets.ofNamespace(namespace).map(KnownBudget::name).orElse(null));
        }

        Optional<String> ofWaiter(Waiter waiter) {
            String budget = payer(waiter.namespace()).budget();
            return budget == null ? doubts.ofAll() : whyNot(budget, this::whyItGetsNoRoom);
        }

        Optional<String> ofVictims(Planned planned) {
            Payer payer = payer(planned.payer().namespace());
            String budget = payer.budget();
            return budget == null || !payer.equals(planned.payer())
                    ? Optional.of(
                            "%s belongs to %s now"
                                    .formatted(
                                            payer.namespace(),
                                            budget == null ? "no budget" : "budget " + budget))
                    : whyNot(budget, it -> whyItStays(it, planned.lowered()));
        }

        private @Nullable String whyItGetsNoRoom(KnownBudget budget) {
            return budget.isOver(now) ? "budget %s is used up".formatted(budget.name()) : null;
        }

        private @Nullable String whyItStays(KnownBudget budget, boolean lowered) {
            if (!budget.isOver(now)) {
                return "budget %s is %s".formatted(budget.name(), budget.standing(now).word());
            }
            if (!budget.onExhausted().allowsEviction(lowered)) {
                return "budget %s says onExhausted: %s"
                        .formatted(budget.name(), budget.onExhausted());
            }
            return budget.paused() ? "reclaim is paused for budget " + budget.name() : null;
        }

        private Optional<String> whyNot(String name, Function<KnownBudget, @Nullable String> rule) {
            Optional<KnownBudget> budget = stored(name);
            return budget.isEmpty()
                    ? Optional.of("budget %s is gone".formatted(name))
                    : doubts.of(budget.get())
                            .or(() -> Optional.ofNullable(rule.apply(budget.get())));
        }
    }
}
