package io.gpusharing.timekeeper.budget;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.timekeeper.alarm.Alarm;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.leadership.Leadership;
import io.gpusharing.timekeeper.metering.PodFacts;
import io.gpusharing.timekeeper.metering.Stay;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
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
 * Tells of thresholds and exhaustion by Events on the {@code GpuBudget}, at the very instant that
 * its line foretells. What is noted before is told once, whatever is killed in between: the Event's
 * name follows from what it says, and a second one of that name is refused.
 */
@Component
class Announcer extends Alarm {

    private static final Logger log = LoggerFactory.getLogger(Announcer.class);
    private static final String COMPONENT = "gpusharing-timekeeper";
    private static final int MOST_PODS = 200;
    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private final KubernetesClient client;
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
        this.client = client;
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
        Instant next = null;
        for (BudgetState state : budgets.states().values()) {
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
        ObjectReference budget =
                new ObjectReferenceBuilder()
                        .withApiVersion(GpuBudget.API_VERSION)
                        .withKind(GpuBudget.KIND)
                        .withName(what.budget())
                        .withUid(state.uid())
                        .build();
        create(event(what, what.budget(), "default", budget));
        if (!what.kind().startsWith(Announcement.USED)) {
            // Tenants do not look where Events of cluster-scoped objects land.
            runningPods(state).forEach(pod -> create(event(what, pod)));
        }
    }

    private Stream<PodFacts> runningPods(BudgetState state) {
        return view.pods().stream()
                .filter(pod -> Stay.of(pod) instanceof Stay.Open)
                .filter(pod -> state.spec().namespaces().contains(pod.namespace()))
                .sorted(Comparator.comparing(PodFacts::uid))
                .limit(MOST_PODS);
    }

    private static Event event(Announcement what, PodFacts pod) {
        ObjectReference reference =
                new ObjectReferenceBuilder()
                        .withApiVersion("v1")
                        .withKind("Pod")
                        .withNamespace(pod.namespace())
                        .withName(pod.name())
                        .withUid(pod.uid().toString())
                        .build();
        return event(what, pod.name(), pod.namespace(), reference);
    }

    private static Event event(
            Announcement what, String name, String namespace, ObjectReference concerned) {
        // Events count in seconds; the exact instant is beside it.
        String second = what.due().truncatedTo(ChronoUnit.SECONDS).toString();
        return new EventBuilder()
                .withNewMetadata()
                .withName(
                        "%s.%s-%x-%x"
                                .formatted(
                                        name,
                                        what.kind().toLowerCase(Locale.ROOT),
                                        what.periodStart().getEpochSecond(),
                                        what.granted().microGpuSeconds()))
                .withNamespace(namespace)
                .endMetadata()
                .withInvolvedObject(concerned)
                .withType("Warning")
                .withReason(reason(what.kind()))
                .withMessage(what.message())
                .withAction("Charging")
                .withFirstTimestamp(second)
                .withLastTimestamp(second)
                .withEventTime(new MicroTime(MICROS.format(what.due())))
                .withCount(1)
                .withNewSource()
                .withComponent(COMPONENT)
                .endSource()
                .withReportingComponent(COMPONENT)
                .withReportingInstance(COMPONENT)
                .build();
    }

    private static String reason(String kind) {
        return switch (kind) {
            case Announcement.EXHAUSTED -> "BudgetExhausted";
            case Announcement.ENDS_SOON -> "BudgetEndsSoon";
            default -> "BudgetThreshold";
        };
    }

    /** A second one of the same name says the same and is refused. */
    private void create(Event event) {
        try {
            client.resource(event).create();
        } catch (KubernetesClientException e) {
            boolean gone = e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT && !gone) {
                throw e;
            }
        }
    }
}
