package io.gpusharing.timekeeper.usage.intake;

import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says that reports of a meter are refused, by one line in the log and an Event on the meter's pod,
 * and by a line that they are taken again. A tenant can send whatever it likes, so each reason is
 * written once an hour for each meter.
 */
final class RefusalNotices {

    private static final Logger log = LoggerFactory.getLogger(RefusalNotices.class);
    private static final Duration AGAIN_AFTER = Duration.ofHours(1);

    private final Events events;
    private final Executor background;
    private final Map<Notice, Instant> notified = new ConcurrentHashMap<>();
    private final Set<UUID> refused = ConcurrentHashMap.newKeySet();

    /** What was written, and of which meter's pod. */
    private record Notice(UUID pod, Refusal refusal) {}

    /**
     * @param background runs what asks the API server, so that no report waits for it
     */
    RefusalNotices(Events events, Executor background) {
        this.events = events;
        this.background = background;
    }

    /** Notes what became of a meter's report. */
    void note(Reporter reporter, Outcome outcome, Instant now) {
        switch (outcome) {
            // The last report of a pod that ends often comes too late.
            case Refused it when it.refusal() != Refusal.POD_NOT_ALIVE -> note(reporter, it, now);
            case Accepted accepted when refused.remove(reporter.pod()) ->
                    log.atInfo()
                            .addKeyValue("pod", reporter.namespace() + "/" + reporter.podName())
                            .log("usage reports are taken again");
            default -> {}
        }
    }

    private void note(Reporter reporter, Refused outcome, Instant now) {
        Notice notice = new Notice(reporter.pod(), outcome.refusal());
        Instant lately = notified.get(notice);
        if (lately != null && !isOver(lately, now)) {
            return;
        }
        notified.values().removeIf(at -> isOver(at, now));
        refused.retainAll(notified.keySet().stream().map(Notice::pod).collect(toSet()));
        if (notified.putIfAbsent(notice, now) == null) {
            refused.add(reporter.pod());
            log.atWarn()
                    .addKeyValue("pod", reporter.namespace() + "/" + reporter.podName())
                    .addKeyValue("node", reporter.node())
                    .addKeyValue("reason", outcome.refusal())
                    .addKeyValue("detail", outcome.detail())
                    .log("usage reports are refused");
            background.execute(() -> write(reporter, outcome, now));
        }
    }

    private static boolean isOver(Instant at, Instant now) {
        return at.plus(AGAIN_AFTER).isBefore(now);
    }

    private void write(Reporter reporter, Refused outcome, Instant now) {
        String next =
                outcome.refusal().endsTheRun()
                        ? " Its meter begins a new run of counters."
                        : " What it measures is not counted meanwhile.";
        try {
            events.write(
                    Events.pod(reporter.namespace(), reporter.podName(), reporter.pod().toString()),
                    "%s-%x"
                            .formatted(
                                    outcome.refusal()
                                            .name()
                                            .toLowerCase(Locale.ROOT)
                                            .replace('_', '-'),
                                    now.toEpochMilli()),
                    new Text(
                            Events.Type.Warning,
                            "UsageReportRefused",
                            "Meter",
                            "The timekeeper refused its usage report: "
                                    + outcome.detail()
                                    + "."
                                    + next),
                    now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("pod", reporter.namespace() + "/" + reporter.podName())
                    .addKeyValue("reason", e.getMessage())
                    .log("cannot write an Event about refused usage reports");
        }
    }
}
