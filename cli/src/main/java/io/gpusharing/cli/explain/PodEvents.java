package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** What Events of a namespace say of pods, for an hour as clusters come. */
final class PodEvents {

    private static final Pattern REFUSAL = Pattern.compile("Failed(To)?Create");

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

    /** Why the last pod that was to belong to an object was refused; empty if none was. */
    static Optional<String> lastRefusal(Cluster cluster, String namespace, Owners owners) {
        return events(cluster, namespace, Map.of("type", "Warning")).stream()
                .filter(event -> isRefusal(event) || isOurs(event))
                .filter(event -> isAboutOneOf(event, owners))
                .max(Comparator.comparing(PodEvents::time))
                .map(event ->
                        "Its last pod was refused at %s: %s"
                                .formatted(time(event), event.getMessage()));
    }

    /** Kubernetes' controllers say {@code FailedCreate}, operators something like it. */
    private static boolean isRefusal(Event event) {
        return REFUSAL.matcher(requireNonNullElse(event.getReason(), "")).lookingAt();
    }

    /** What is said of a pod itself is no refusal of it. */
    private static boolean isAboutOneOf(Event event, Owners owners) {
        ObjectReference about = event.getInvolvedObject();
        return about != null
                && about.getUid() != null
                && !"Pod".equals(about.getKind())
                && owners.isOrOwns(
                        requireNonNullElse(about.getApiVersion(), ""),
                        requireNonNullElse(about.getKind(), ""),
                        about.getUid());
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
