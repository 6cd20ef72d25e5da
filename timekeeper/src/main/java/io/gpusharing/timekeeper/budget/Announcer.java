package io.gpusharing.timekeeper.budget;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.timekeeper.alarm.Alarm;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.events.Events;
import io.gpusharing.timekeeper.events.Events.Text;
import io.gpusharing.timekeeper.leadership.Leadership;
import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.metering.Stay;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
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
 * foretells. Each announcement is noted in the database first, and the Event's name follows from
 * what it says: whatever is killed in between, it is written once.
 */
@Component
class Announcer extends Alarm {

    private static final Logger log = LoggerFactory.getLogger(Announcer.class);
    private static final int MOST_PODS = 200;

    private final Events events;
    private final Budgets budgets;
    private final Announcements announcements;
    private final ClusterView view;
    private final Set<Key> noted = new HashSet<>();
    private boolean untold = true;

    Announcer(
            KubernetesClient client,
            Budgets budgets,
            Announcements announcements,
            ClusterView view,
            Leadership leadership,
            Clock clock) {
        super("announcer", leadership, clock);
        this.events = new Events(client);
        this.budgets = budgets;
        this.announcements = announcements;
        this.view = view;
        budgets.listen(states -> ring());
    }

    /** What makes an announcement the same. */
    private record Key(String budget, Instant period, String kind, long granted) {

        static Key of(Announcement it) {
            return new Key(
                    it.budget(), it.periodStart(), it.kind(), it.granted().microGpuSeconds());
        }
    }

    @Override
    protected void takeOver() {
        untold = true;
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        if (!budgets.settled()) {
            // What was noted before a crash would find no budget, and be taken for told.
            return null;
        }
        Map<String, BudgetState> states = budgets.states();
        noted.removeIf(key -> isOver(key, states.get(key.budget())));
        Instant next = null;
        for (BudgetState state : states.values()) {
            for (Announcement announcement : Announcement.of(state)) {
                if (announcement.due().isAfter(now)) {
                    next = sooner(next, announcement.due());
                } else if (!noted.contains(Key.of(announcement))) {
                    announcements.note(announcement);
                    noted.add(Key.of(announcement));
                    untold = true;
                }
            }
        }
        if (untold) {
            tellAll(now);
            // Not before all is told: an API server that is away is told when it is back.
            untold = false;
        }
        return next;
    }

    /** Whether nobody will ask for it again: memory must not grow with the months. */
    private static boolean isOver(Key key, @Nullable BudgetState present) {
        return present == null || !present.period().start().equals(key.period());
    }

    private void tellAll(Instant now) {
        Map<String, BudgetState> states = budgets.states();
        for (Announcement announcement : announcements.untold()) {
            if (!leads()) {
                return;
            }
            BudgetState state = states.get(announcement.budget());
            if (state != null) {
                tell(announcement, state);
                log.atInfo()
                        .addKeyValue("budget", announcement.budget())
                        .addKeyValue("kind", announcement.kind())
                        .addKeyValue("due", announcement.due())
                        .log("told");
            }
            announcements.told(announcement, now);
        }
    }

    private void tell(Announcement what, BudgetState state) {
        write(
                what,
                new ObjectReferenceBuilder()
                        .withApiVersion(GpuBudget.API_VERSION)
                        .withKind(GpuBudget.KIND)
                        .withName(what.budget())
                        .withUid(state.uid())
                        .build());
        if (!what.kind().startsWith(Announcement.USED)) {
            // Tenants do not look where Events of cluster-scoped objects land.
            runningPods(state)
                    .map(pod -> Events.pod(pod.namespace(), pod.name(), pod.uid().toString()))
                    .forEach(pod -> write(what, pod));
        }
    }

    private Stream<PodFacts> runningPods(BudgetState state) {
        return view.pods().stream()
                .filter(pod -> Stay.of(pod) instanceof Stay.Open)
                .filter(pod -> state.paysFor(pod.namespace()))
                .sorted(Comparator.comparing(PodFacts::uid))
                .limit(MOST_PODS);
    }

    private void write(Announcement what, ObjectReference about) {
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
            case Announcement.EXHAUSTED -> "BudgetExhausted";
            case Announcement.ENDS_SOON -> "BudgetEndsSoon";
            default -> "BudgetThreshold";
        };
    }
}
