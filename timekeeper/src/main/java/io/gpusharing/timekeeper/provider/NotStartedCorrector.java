package io.gpusharing.timekeeper.provider;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.RefusedStart;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.web.LeaderTask;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Has corrected what pods were charged while our device plugin did not let them start. What is done
 * is only remembered to ask the ledger less often: doing it again changes nothing.
 */
@Component
class NotStartedCorrector extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(NotStartedCorrector.class);

    /** The end of a pod, or the posting of its charges, triggers nothing here. */
    private static final Duration LOOK = Duration.ofSeconds(10);

    private static final double MICROS = 1e6;

    private final RefusedStartWatch watch;
    private final NotStartedCorrections corrections;
    private final Budgets budgets;
    private final LedgerWriter writer;
    private final Counter givenBack;
    private final OutageLog outage;
    private final Clock clock;
    private final AtomicBoolean queued = new AtomicBoolean();
    private final Set<RefusedStart> done = ConcurrentHashMap.newKeySet();

    NotStartedCorrector(
            RefusedStartWatch watch,
            NotStartedCorrections corrections,
            Budgets budgets,
            LedgerWriter writer,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        super("not-started", leadership, clock);
        this.watch = watch;
        this.corrections = corrections;
        this.budgets = budgets;
        this.writer = writer;
        this.clock = clock;
        this.outage = new OutageLog(log, "not-started", clock);
        this.givenBack =
                Counter.builder("gpusharing.provider.not.started")
                        .description(
                                "What was given back to pods that the device plugin did not let start")
                        .baseUnit("gpu_seconds")
                        .register(registry);
        watch.listen(this::trigger);
    }

    @Override
    protected void takeOver() {
        done.clear();
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        List<RefusedStart> refused = watch.refused();
        done.retainAll(Set.copyOf(refused));
        List<RefusedStart> left = refused.stream().filter(it -> !done.contains(it)).toList();
        if (left.isEmpty()) {
            return null;
        }
        if (budgets.settled() && !queued.getAndSet(true)) {
            writer.between(() -> {
                queued.set(false);
                correct(left);
            });
        }
        return now.plus(LOOK);
    }

    /** In the ledger's thread. What fails is tried again at the next look. */
    private void correct(List<RefusedStart> starts) {
        if (!leads()) {
            return;
        }
        try {
            corrections.correct(starts, budgets::corrected, this::done, clock.instant());
            outage.over();
        } catch (RuntimeException e) {
            outage.failed(e);
        }
    }

    private void done(NotStartedCorrections.Answer answer) {
        givenBack.increment(answer.givenBack() / MICROS);
        done.add(answer.start());
    }
}
