package io.gpusharing.timekeeper.budget.notify;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.DueBudgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Writes Events when a budget passes a threshold or is used up, at the very instant that its line
 * foretells. Each notification is noted in the database first, and the Event's name follows from
 * what it says: whatever is killed in between, it is written once.
 */
@Component
class BudgetNotifier extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(BudgetNotifier.class);
    private static final int MAX_PODS = 200;

    private final Events events;
    private final Budgets budgets;
    private final NotificationRepository notifications;
    private final ClusterView view;
    private final Map<String, Set<Key>> noted = new HashMap<>();
    private final DueBudgets due;
    private boolean untold = true;

    BudgetNotifier(
            KubernetesClient client,
            Budgets budgets,
            NotificationRepository notifications,
            ClusterView view,
            Leadership leadership,
            Clock clock) {
        super("budget-notifier", leadership, clock);
        this.events = new Events(client, Names.TIMEKEEPER);
        this.budgets = budgets;
        this.notifications = notifications;
        this.view = view;
        this.due = new DueBudgets(budgets, this::trigger);
    }

    /** What makes a notification the same. */
    private record Key(String budget, Instant period, String kind, long granted) {

        static Key of(BudgetNotification it) {
            return new Key(
                    it.budget(), it.periodStart(), it.kind(), it.granted().microGpuSeconds());
        }
    }

    @Override
    protected void takeOver() {
        untold = true;
        due.lookAtAll();
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        if (!budgets.settled()) {
            // What was noted before a crash would find no budget, and be taken for sent.
            return null;
        }
        for (String name : due.due(now)) {
            due.putOff(name, note(name, now));
        }
        if (untold) {
            tellAll(now);
            // Not before all is sent: an API server that is away gets it when it is back.
            untold = false;
        }
        return due.next();
    }

    /** Notes what has come; when something comes next, null if nothing does. */
    private @Nullable Instant note(String name, Instant now) {
        BudgetState state = budgets.states().get(name);
        if (state == null) {
            noted.remove(name);
            return null;
        }
        Set<Key> known = noted.computeIfAbsent(name, it -> new HashSet<>());
        // Nobody will ask for those again: memory must not grow with the months.
        known.removeIf(key -> !state.period().start().equals(key.period()));
        Instant next = null;
        for (BudgetNotification notification : BudgetNotification.of(state)) {
            if (notification.due().isAfter(now)) {
                next = sooner(next, notification.due());
            } else if (!known.contains(Key.of(notification))) {
                notifications.note(notification);
                known.add(Key.of(notification));
                untold = true;
            }
        }
        return next;
    }

    private void tellAll(Instant now) {
        Map<String, BudgetState> states = budgets.states();
        for (BudgetNotification notification : notifications.untold()) {
            if (!leads()) {
                return;
            }
            BudgetState state = states.get(notification.budget());
            if (state != null) {
                send(notification, state);
                log.atInfo()
                        .addKeyValue("budget", notification.budget())
                        .addKeyValue("kind", notification.kind())
                        .addKeyValue("due", notification.due())
                        .log("notification sent");
            }
            notifications.sent(notification, now);
        }
    }

    private void send(BudgetNotification what, BudgetState state) {
        write(
                what,
                new ObjectReferenceBuilder()
                        .withApiVersion(GpuBudget.API_VERSION)
                        .withKind(GpuBudget.KIND)
                        .withName(what.budget())
                        .withUid(state.uid())
                        .build());
        if (!what.kind().startsWith(BudgetNotification.USED)) {
            // Tenants do not look where Events of cluster-scoped objects land.
            var closed = new HashSet<String>();
            runningPods(state)
                    .map(pod -> Events.pod(pod.namespace(), pod.name(), pod.uid().toString()))
                    .filter(pod -> !closed.contains(pod.getNamespace()))
                    .filter(pod -> !isTold(what, pod))
                    .forEach(pod -> closed.add(pod.getNamespace()));
        }
    }

    /** A quota on Events, or whatever else a namespace has against them, stops no other. */
    private boolean isTold(BudgetNotification what, ObjectReference pod) {
        try {
            write(what, pod);
            return true;
        } catch (KubernetesClientException e) {
            if (OutageLog.isOutageForAll(e)) {
                throw e;
            }
            log.atWarn()
                    .addKeyValue("namespace", pod.getNamespace())
                    .addKeyValue("problem", e.getMessage())
                    .log("cannot write Events about pods");
            return false;
        }
    }

    private Stream<PodFacts> runningPods(BudgetState state) {
        return view.pods().stream()
                .filter(pod -> AllocationInterval.of(pod) instanceof AllocationInterval.Open)
                .filter(pod -> state.paysFor(pod.namespace()))
                .sorted(Comparator.comparing(PodFacts::uid))
                .limit(MAX_PODS);
    }

    private void write(BudgetNotification what, ObjectReference about) {
        String id =
                "%s-%x-%x"
                        .formatted(
                                what.kind().toLowerCase(Locale.ROOT),
                                what.periodStart().getEpochSecond(),
                                what.granted().microGpuSeconds());
        events.write(
                about,
                id,
                new Text(Events.Type.Warning, reason(what.kind()), "Charging", what.message()),
                what.due());
    }

    private static String reason(String kind) {
        return switch (kind) {
            case BudgetNotification.EXHAUSTED -> "BudgetExhausted";
            case BudgetNotification.ENDS_SOON -> "BudgetEndsSoon";
            default -> "BudgetThreshold";
        };
    }
}
