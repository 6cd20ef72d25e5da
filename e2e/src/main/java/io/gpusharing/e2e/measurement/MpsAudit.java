package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.measurement.MpsClients.Event;
import io.gpusharing.e2e.measurement.MpsClients.What;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Holds what became of MPS clients against the kills that were to end some of them. A client is
 * known by its pod, which has one, and whose name begins with its team's and a hyphen.
 */
final class MpsAudit {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** How many of those with five seconds and more must be ended through their daemon. */
    private static final double GOAL = 0.99;

    private final Map<String, Kill> kills = new LinkedHashMap<>();
    private final Map<String, Instant> taken = new HashMap<>();

    /** What a pod is told of its end. */
    enum Notice {
        FiveSecondsAndMore,
        OneToFourSeconds,
        /** It is deleted from the API server at once. */
        DeletedByForce,
        /** Its process is killed on the node, as for want of memory. */
        Nothing;

        private static Notice of(int graceSeconds) {
            return graceSeconds == 0
                    ? DeletedByForce
                    : graceSeconds < 5 ? OneToFourSeconds : FiveSecondsAndMore;
        }
    }

    /** How a client ended. */
    enum Outcome {
        TerminatedFirst,
        KilledInItsWork,
        /** By the kill of another one. */
        FailedBefore,
        Unknown
    }

    private record Kill(Notice notice, int graceSeconds, Instant at) {}

    /**
     * A client that began after a kill and before a check.
     *
     * @param wasLetIn whether the kubelet had taken its pod already, to the second
     */
    private record EarlyJoin(String host, String killed, Duration after, boolean wasLetIn) {}

    /** Since this second the kubelet has a pod, by its status. */
    void taken(String pod, Instant at) {
        taken.putIfAbsent(pod, at);
    }

    /**
     * Now the pod of a client is deleted.
     *
     * @param graceSeconds 0 by force
     */
    void delete(String pod, int graceSeconds) {
        kills.put(pod, new Kill(Notice.of(graceSeconds), graceSeconds, Instant.now()));
    }

    /** Now the process of a client is killed. */
    void kill(String pod) {
        kills.put(pod, new Kill(Notice.Nothing, 0, Instant.now()));
    }

    boolean isKilled(String pod) {
        return kills.containsKey(pod);
    }

    int kills() {
        return kills.size();
    }

    /** Whether each of those that were killed has ended. */
    boolean isComplete(List<Event> events) {
        return kills.keySet().stream().allMatch(pod -> outcome(pod, events) != Outcome.Unknown);
    }

    private static Outcome outcome(String pod, List<Event> events) {
        return events.stream()
                .filter(event -> event.host().equals(pod))
                .map(event ->
                        switch (event.what()) {
                            case Terminated -> Outcome.TerminatedFirst;
                            case Killed -> Outcome.KilledInItsWork;
                            case Fails -> Outcome.FailedBefore;
                            case Begins, Ends, Checks -> Outcome.Unknown;
                        })
                .filter(outcome -> outcome != Outcome.Unknown)
                .findFirst()
                .orElse(Outcome.Unknown);
    }

    private Map<Outcome, Integer> outcomes(Notice notice, List<Event> events) {
        var counts = new EnumMap<Outcome, Integer>(Outcome.class);
        kills.forEach((pod, kill) -> {
            if (kill.notice() == notice) {
                counts.merge(outcome(pod, events), 1, Integer::sum);
            }
        });
        return counts;
    }

    /** Of those that were not ended by another kill before, how many were ended by their daemon. */
    private double terminatedFirst(Notice notice, List<Event> events) {
        Map<Outcome, Integer> counts = outcomes(notice, events);
        int terminated = counts.getOrDefault(Outcome.TerminatedFirst, 0);
        int others =
                counts.getOrDefault(Outcome.KilledInItsWork, 0)
                        + counts.getOrDefault(Outcome.Unknown, 0);
        return terminated + others == 0 ? 1 : (double) terminated / (terminated + others);
    }

    private List<EarlyJoin> earlyJoins(List<Event> events) {
        var unchecked = new HashMap<String, Event>();
        var early = new ArrayList<EarlyJoin>();
        for (Event event : events) {
            switch (event.what()) {
                case Killed -> unchecked.putIfAbsent(event.gpu(), event);
                case Checks -> unchecked.remove(event.gpu());
                case Begins -> {
                    Event killed = unchecked.get(event.gpu());
                    if (killed != null) {
                        early.add(
                                new EarlyJoin(
                                        event.host(),
                                        killed.host(),
                                        Duration.between(killed.at(), event.at()),
                                        wasLetIn(event.host(), killed.at())));
                    }
                }
                case Ends, Terminated, Fails -> {}
            }
        }
        return early;
    }

    private boolean wasLetIn(String pod, Instant time) {
        Instant since = taken.get(pod);
        return since != null && since.isBefore(time);
    }

    /** What must not be, in words. */
    List<String> faults(List<Event> events) {
        var faults = new ArrayList<String>();
        double share = terminatedFirst(Notice.FiveSecondsAndMore, events);
        if (share < GOAL) {
            faults.add("only %.4f of the kills with notice were terminated first".formatted(share));
        }
        for (Event event : events) {
            if (event.what() == What.Killed && !kills.containsKey(event.host())) {
                faults.add("%s was killed in its work, and not by us".formatted(event.host()));
            }
        }
        faults.addAll(strangers(events));
        return faults;
    }

    /** Clients of two teams beside each other. */
    private static List<String> strangers(List<Event> events) {
        var faults = new ArrayList<String>();
        var clients = new HashMap<String, Set<String>>();
        for (Event event : events) {
            Set<String> here = clients.computeIfAbsent(event.gpu(), gpu -> new HashSet<>());
            if (event.what() != What.Begins) {
                here.remove(event.host());
                continue;
            }
            here.add(event.host());
            if (here.stream().map(MpsAudit::team).distinct().count() > 1) {
                faults.add("on %s were beside each other %s".formatted(event.gpu(), here));
            }
        }
        return faults;
    }

    private static String team(String host) {
        return host.substring(0, host.indexOf('-'));
    }

    /** The counts. */
    ObjectNode counts(List<Event> events) {
        ObjectNode counts = JSON.createObjectNode();
        ObjectNode byNotice = counts.putObject("kills");
        for (Notice notice : Notice.values()) {
            ObjectNode outcomes = byNotice.putObject(notice.name());
            outcomes(notice, events).forEach((outcome, n) -> outcomes.put(outcome.name(), n));
        }
        counts.put(
                "terminated_first_of_five_seconds_and_more",
                terminatedFirst(Notice.FiveSecondsAndMore, events));
        ObjectNode others = counts.putObject("others_ended_by_kills");
        for (Notice notice : Notice.values()) {
            others.put(notice.name(), endedBeside(notice, events));
        }
        counts.put("clients", events.stream().filter(it -> it.what() == What.Begins).count());
        counts.put("checks", events.stream().filter(it -> it.what() == What.Checks).count());
        var early = counts.putArray("joined_before_a_check");
        for (EarlyJoin join : earlyJoins(events)) {
            early.addObject()
                    .put("client", join.host())
                    .put("killed", join.killed())
                    .put("after_ms", join.after().toMillis())
                    .put("its_pod_was_let_in_before", join.wasLetIn());
        }
        var late = counts.putArray("killed_in_their_work_of_five_seconds_and_more");
        for (Event event : events) {
            Kill kill = kills.get(event.host());
            if (event.what() == What.Killed
                    && kill != null
                    && kill.notice() == Notice.FiveSecondsAndMore) {
                late.addObject()
                        .put("client", event.host())
                        .put("gpu", event.gpu())
                        .put("deleted", kill.at().toString())
                        .put("grace_seconds", kill.graceSeconds())
                        .put("killed_after_ms", Duration.between(kill.at(), event.at()).toMillis());
            }
        }
        return counts;
    }

    private long endedBeside(Notice notice, List<Event> events) {
        return events.stream()
                .filter(event -> event.what() == What.Fails)
                .map(event -> kills.get(event.because()))
                .filter(kill -> kill != null && kill.notice() == notice)
                .count();
    }
}
