package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Event;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What Events of a namespace say of pods, for an hour as clusters come. */
final class PodEvents {

    private PodEvents() {}

    /** How a pod of that name ended, each with its time, oldest first. */
    static List<String> ofTheEnd(Cluster cluster, String namespace, String pod) {
        return events(
                        cluster,
                        namespace,
                        Map.of("involvedObject.kind", "Pod", "involvedObject.name", pod))
                .stream()
                .filter(PodEvents::tellsOfItsEnd)
                .sorted(Comparator.comparing(PodEvents::time))
                .map(event -> time(event) + " " + event.getMessage())
                .toList();
    }

    /**
     * Why a pod of one of these objects was refused last; empty if none was.
     *
     * @param uids of controllers that make pods
     */
    static Optional<String> lastRefusal(Cluster cluster, String namespace, Set<String> uids) {
        return events(cluster, namespace, Map.of("type", "Warning")).stream()
                .filter(event ->
                        event.getInvolvedObject() != null
                                && uids.contains(event.getInvolvedObject().getUid()))
                .filter(event -> "FailedCreate".equals(event.getReason()) || isOurs(event))
                .max(Comparator.comparing(PodEvents::time))
                .map(event ->
                        "Its last pod was refused at %s: %s"
                                .formatted(time(event), event.getMessage()));
    }

    private static List<Event> events(
            Cluster cluster, String namespace, Map<String, String> fields) {
        return cluster.ask(
                "list",
                Kind.EVENTS,
                client ->
                        client.v1()
                                .events()
                                .inNamespace(namespace)
                                .withFields(fields)
                                .list()
                                .getItems());
    }

    /** Ours, and kube-scheduler's where whoever is over budget had to make room. */
    private static boolean tellsOfItsEnd(Event event) {
        return isOurs(event) || "Preempted".equals(event.getReason());
    }

    private static boolean isOurs(Event event) {
        return requireNonNullElse(event.getReportingComponent(), "").startsWith("gpusharing-");
    }

    private static String time(Event event) {
        String last = event.getLastTimestamp();
        return last == null && event.getEventTime() != null
                ? requireNonNullElse(event.getEventTime().getTime(), "")
                : requireNonNullElse(last, "");
    }
}
