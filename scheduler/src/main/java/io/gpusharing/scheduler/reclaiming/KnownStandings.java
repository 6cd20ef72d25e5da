package io.gpusharing.scheduler.reclaiming;

import io.gpusharing.Names;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.cluster.ClusterSight;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.scheduler.picture.reading.Payers;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.preemption.PresentStandings;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/** Tells preemption of budgets what reclaim goes by. */
@Component
final class KnownStandings implements PresentStandings {

    private final ClusterSight sight;
    private final KnownCluster known;
    private final Budgets budgets;
    private final FreshBudgets fresh;
    private final ReadingSettings settings;
    private final ReclaimProperties properties;
    private final Clock clock;

    KnownStandings(
            ClusterSight sight,
            KnownCluster known,
            Budgets budgets,
            FreshBudgets fresh,
            ReadingSettings settings,
            ReclaimProperties properties,
            @Qualifier("evicting") Clock clock) {
        this.sight = sight;
        this.known = known;
        this.budgets = budgets;
        this.fresh = fresh;
        this.settings = settings;
        this.properties = properties;
        this.clock = clock;
    }

    /**
     * @throws IllegalStateException while it is not known whom administrators protect, or how
     *     budgets stand
     */
    @Override
    public Present now() {
        if (!budgets.areKnown()) {
            throw new IllegalStateException("budgets have not been listed yet");
        }
        sight.whyUnseen()
                .ifPresent(why -> {
                    throw new IllegalStateException(why);
                });
        Instant now = clock.instant();
        var payers = new Payers(budgets, () -> fresh.doubts(now), now);
        boolean paused =
                properties.paused()
                        || known.isTrue(settings.ownNamespace(), Names.RECLAIM_PAUSED_ANNOTATION);
        return new Present() {

            @Override
            public Instant at() {
                return now;
            }

            @Override
            public @Nullable BudgetAccount payer(String namespace) {
                return payers.of(namespace).map(it -> paused ? it.asPaused() : it).orElse(null);
            }

            @Override
            public boolean protects(String namespace) {
                return known.isTrue(namespace, Names.DO_NOT_RECLAIM_ANNOTATION);
            }
        };
    }
}
