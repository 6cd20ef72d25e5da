package io.gpusharing.e2e.measurement;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Judges a scheduler by the API server's audit log alone: which pods were bound to which GPU, who
 * had to go for whom, and who waited though there was room. It shares no class with the scheduler.
 *
 * <p>A pod holds its GPUs from when its binding was answered until its end was asked for, so what
 * happens at the same instant is never held against anybody. Where an end is missing, since the API
 * server was killed before it wrote it down, the pod ends with its last mention.
 */
final class PlacementAudit {

    private static final Comparator<Life> FIRST_SERVED =
            Comparator.comparingInt((Life it) -> -it.priority).thenComparing(it -> it.created);

    /** How long after it has come room may still be unknown to those who look for it. */
    private static final Duration NEWS = Duration.ofSeconds(1);

    /** Who waits beside room for longer has been forgotten. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CORE = "tencent.com/vcuda-core";
    private static final String MEMORY = "tencent.com/vcuda-memory";
    private static final int MIB_A_BLOCK = 256;
    private static final int WHOLE = 100;
    private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

    private final Map<String, Life> lives = new LinkedHashMap<>();
    private final Map<String, Reservation> reservations = new LinkedHashMap<>();

    /** Those of this instant, by pod. */
    private final Map<String, Reservation> kept = new HashMap<>();

    private final Map<String, Gpu> gpus = new TreeMap<>();
    private final List<Change> changes = new ArrayList<>();
    private final List<Outage> outages;
    private final Set<String> faults = new TreeSet<>();
    private final Map<String, Integer> evictions = new TreeMap<>();
    private Duration longestWaitBesideRoom = Duration.ZERO;

    /** While something was killed and not back, nobody is blamed for waiting. */
    record Outage(Instant from, Instant to) {}

    /** What a container asks for; whole GPUs where core is a multiple of 100. */
    private record Ask(long core, long memoryMiB) {
        boolean whole() {
            return core >= WHOLE;
        }
    }

    private record Reservation(String pod, Set<String> gpus, Set<String> victims, Instant made) {}

    private record Change(Instant at, Runnable work) {}

    /** One pod, from its creation to its end. */
    private static final class Life {
        private final String name;
        private final int priority;
        private final Map<String, Ask> asks;
        private final Instant created;
        private Instant mentioned;
        private @Nullable Instant bound;
        private @Nullable String node;
        private Map<String, List<String>> placement = Map.of();
        private @Nullable Instant ended;
        private @Nullable Instant preempted;
        private final Map<String, Instant> roomSince = new HashMap<>();
        private final Map<String, Instant> ownRoomSince = new HashMap<>();

        private Life(String name, int priority, Map<String, Ask> asks, Instant created) {
            this.name = name;
            this.priority = priority;
            this.asks = asks;
            this.created = created;
            this.mentioned = created;
        }

        private Instant end() {
            if (ended != null) {
                return ended;
            }
            return bound != null && bound.isAfter(mentioned) ? bound : mentioned;
        }

        @Override
        public String toString() {
            return "%s (%s, priority %d, created %s, bound %s, ended %s)"
                    .formatted(name, asks, priority, created, bound, ended);
        }
    }

    /** One GPU, at the instant that is looked at. */
    private static final class Gpu {
        private final String uuid;
        private final String node;
        private final long memoryMiB;
        private final Map<String, Ask> holders = new HashMap<>();
        private final Map<String, Ask> granted = new HashMap<>();
        private final Map<String, Instant> grantedSince = new HashMap<>();

        private Gpu(String uuid, String node, long memoryMiB) {
            this.uuid = uuid;
            this.node = node;
            this.memoryMiB = memoryMiB;
        }

        /** Who holds it by a binding, or still by a grant of the device plugin. */
        private Map<String, Ask> all() {
            var all = new HashMap<>(granted);
            all.putAll(holders);
            return all;
        }

        /** The same without grants that are too new to be known by everybody. */
        private Map<String, Ask> known(Instant now) {
            var known = all();
            grantedSince.forEach((holder, since) -> {
                if (since.isAfter(now.minus(NEWS)) && !holders.containsKey(holder)) {
                    known.remove(holder);
                }
            });
            return known;
        }

        private void give(Map<String, Ask> grants, Instant now) {
            granted.putAll(grants);
            grants.keySet().forEach(holder -> grantedSince.putIfAbsent(holder, now));
        }

        private void takeBack(Set<String> others) {
            granted.keySet().retainAll(others);
            grantedSince.keySet().retainAll(others);
        }

        private boolean fits(Map<String, Ask> holders) {
            long core = 0;
            long memory = 0;
            boolean whole = false;
            for (Ask ask : holders.values()) {
                core += ask.whole() ? WHOLE : ask.core();
                memory += ask.memoryMiB();
                whole |= ask.whole();
            }
            return core <= WHOLE && memory <= memoryMiB && (!whole || holders.size() <= 1);
        }
    }

    private PlacementAudit(List<Outage> outages) {
        this.outages = List.copyOf(outages);
    }

    /**
     * Reads a log from its beginning and judges it.
     *
     * @param outages when something was down
     */
    static PlacementAudit of(BufferedReader log, List<Outage> outages) throws IOException {
        var audit = new PlacementAudit(outages);
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            audit.take(JSON.readTree(line));
        }
        audit.judge();
        return audit;
    }

    /** What was wrong, in words. */
    Set<String> faults() {
        return faults;
    }

    int pods() {
        return lives.size();
    }

    int boundPods() {
        return (int) lives.values().stream().filter(it -> it.bound != null).count();
    }

    /** Pods that were preempted, by what it was good for. */
    Map<String, Integer> evictions() {
        return evictions;
    }

    Duration longestWaitBesideRoom() {
        return longestWaitBesideRoom;
    }

    private void take(JsonNode event) {
        int code = event.at("/responseStatus/code").asInt();
        if (!event.path("stage").asText().equals("ResponseComplete") || code >= 300) {
            return;
        }
        Instant asked = Instant.parse(event.path("requestReceivedTimestamp").asText());
        Instant answered = Instant.parse(event.path("stageTimestamp").asText());
        switch (event.at("/objectRef/resource").asText()) {
            case "pods" -> takePod(event, asked, answered);
            case "gpunodes" -> takeNode(event.path("responseObject"), asked, answered);
            case "gpureservations" -> takeReservation(event, answered);
            default -> {}
        }
    }

    private void takePod(JsonNode event, Instant asked, Instant answered) {
        if (event.at("/objectRef/subresource").asText().equals("binding")) {
            JsonNode binding = event.path("requestObject");
            Life life = lives.get(binding.at("/metadata/uid").asText());
            if (life != null) {
                bind(
                        life,
                        binding.at("/target/name").asText(),
                        binding.at("/metadata/annotations"),
                        answered);
            }
            return;
        }
        JsonNode answer = event.path("responseObject");
        if (answer.has("items")) {
            answer.path("items").forEach(pod -> mention(event, pod, asked, answered));
        } else {
            mention(event, answer, asked, answered);
        }
    }

    private void mention(JsonNode event, JsonNode pod, Instant asked, Instant answered) {
        String uid = pod.at("/metadata/uid").asText();
        if (uid.isEmpty() || !pod.has("spec")) {
            return;
        }
        Life life =
                lives.computeIfAbsent(
                        uid,
                        _ ->
                                new Life(
                                        pod.at("/metadata/name").asText(),
                                        pod.at("/spec/priority").asInt(),
                                        asks(pod),
                                        answered));
        life.mentioned = answered;
        String node = pod.at("/spec/nodeName").asText();
        if (!node.isEmpty()) {
            // The log may lack the binding itself.
            bind(life, node, pod.at("/metadata/annotations"), answered);
        }
        boolean removed =
                event.path("verb").asText().startsWith("delete")
                        && pod.at("/metadata/deletionGracePeriodSeconds").asInt(-1) == 0;
        if (life.ended == null && (removed || ENDED.contains(pod.at("/status/phase").asText()))) {
            life.ended = asked;
        }
        if (life.preempted == null
                && event.path("verb").asText().equals("delete")
                && event.path("userAgent").asText().startsWith("kube-scheduler/")) {
            life.preempted = asked;
        }
    }

    private void bind(Life life, String node, JsonNode annotations, Instant at) {
        if (life.bound != null) {
            return;
        }
        life.bound = at;
        life.node = node;
        life.placement = placement(annotations.path("gpusharing.io/placement").asText());
    }

    /** {@code UID;container=GPU,GPU;container=GPU}. */
    private static Map<String, List<String>> placement(String text) {
        var placement = new LinkedHashMap<String, List<String>>();
        String[] parts = text.split(";", -1);
        for (int i = 1; i < parts.length; i++) {
            String[] pair = parts[i].split("=", 2);
            placement.put(pair[0], List.of(pair[1].split(",", -1)));
        }
        return placement;
    }

    private static Map<String, Ask> asks(JsonNode pod) {
        var asks = new LinkedHashMap<String, Ask>();
        for (JsonNode container : pod.at("/spec/containers")) {
            JsonNode limits = container.at("/resources/limits");
            if (limits.has(CORE)) {
                asks.put(
                        container.path("name").asText(),
                        new Ask(
                                limits.path(CORE).asLong(),
                                limits.path(MEMORY).asLong() * MIB_A_BLOCK));
            }
        }
        return asks;
    }

    private void takeNode(JsonNode node, Instant asked, Instant answered) {
        String name = node.at("/metadata/name").asText();
        for (JsonNode it : node.at("/status/gpus")) {
            Gpu gpu =
                    gpus.computeIfAbsent(
                            it.path("uuid").asText(),
                            uuid -> new Gpu(uuid, name, it.path("memoryMiB").asLong()));
            var granted = new HashMap<String, Ask>();
            for (JsonNode grant : it.path("grants")) {
                granted.put(
                        holder(grant.path("podUid").asText(), grant.path("container").asText()),
                        new Ask(grant.path("core").asLong(), grant.path("memoryMiB").asLong()));
            }
            if (!gpu.fits(granted)) {
                faults.add("%s: the device plugin granted %s".formatted(gpu.uuid, granted));
            }
            // What is taken back is free when that was asked for, what is given is held when it was
            // answered.
            changes.add(new Change(asked, () -> gpu.takeBack(granted.keySet())));
            changes.add(new Change(answered, () -> gpu.give(granted, answered)));
        }
    }

    private static String holder(String uid, String container) {
        return uid + "/" + container;
    }

    private void takeReservation(JsonNode event, Instant at) {
        if (event.path("verb").asText().equals("delete")) {
            String gone = event.at("/objectRef/name").asText();
            changes.add(new Change(at, () -> kept.remove(gone)));
            return;
        }
        JsonNode spec = event.at("/responseObject/spec");
        if (spec.isMissingNode()) {
            return;
        }
        String pod = spec.at("/pod/uid").asText();
        var reservation =
                new Reservation(
                        pod,
                        texts(spec.path("gpus"), "/uuid"),
                        texts(spec.path("victims"), ""),
                        at);
        reservations.put(pod + at, reservation);
        changes.add(new Change(at, () -> kept.put(pod, reservation)));
    }

    private static Set<String> texts(JsonNode list, String path) {
        var texts = new TreeSet<String>();
        list.forEach(it -> texts.add(it.at(path).asText()));
        return texts;
    }

    private void judge() {
        for (var entry : lives.entrySet()) {
            String uid = entry.getKey();
            Life life = entry.getValue();
            changes.add(new Change(life.created, () -> {}));
            // Of a binding that the log lacks, the first sign may be the answer to its deletion.
            Instant bound = life.bound;
            if (bound != null && !bound.isAfter(life.end())) {
                changes.add(new Change(bound, () -> hold(uid, life, bound)));
            }
            changes.add(new Change(life.end(), () -> release(uid, life)));
            if (life.preempted != null) {
                changes.add(new Change(life.preempted, () -> judgeEviction(uid, life)));
            }
        }
        // A sort that keeps the order of the log among equals.
        changes.sort(Comparator.comparing(Change::at));
        var arrivals =
                lives.values().stream()
                        .sorted(Comparator.comparing(it -> it.created))
                        .collect(Collectors.toCollection(ArrayList::new));
        var waiting = new ArrayList<Life>();
        int next = 0;
        for (Change change : changes) {
            // Until now it was as it was; who is bound now has waited until now.
            judgeWaiting(waiting, change.at());
            change.work().run();
            while (next < arrivals.size() && !arrivals.get(next).created.isAfter(change.at())) {
                waiting.add(arrivals.get(next++));
            }
            waiting.removeIf(it -> !change.at().isBefore(it.bound == null ? it.end() : it.bound));
            look(waiting, change.at());
            judgeWaiting(waiting, change.at());
        }
    }

    private void hold(String uid, Life life, Instant now) {
        if (!life.placement.keySet().equals(life.asks.keySet())) {
            faults.add("%s is bound with the placement %s".formatted(life, life.placement));
        }
        life.placement.forEach((container, uuids) -> {
            Ask ask = life.asks.getOrDefault(container, new Ask(0, 0));
            if (uuids.size() != Math.max(1, ask.core() / WHOLE)) {
                faults.add("%s has %s for %s".formatted(life, uuids, ask));
            }
            for (String uuid : uuids) {
                Gpu gpu = gpus.get(uuid);
                if (gpu == null || !gpu.node.equals(life.node)) {
                    faults.add("%s: no GPU %s on %s".formatted(life, uuid, life.node));
                    continue;
                }
                gpu.holders.put(holder(uid, container), ask);
                if (!gpu.fits(gpu.holders)) {
                    faults.add("%s is overbooked with %s: %s".formatted(uuid, life, gpu.holders));
                } else if (!gpu.fits(gpu.known(now)) && isCalm(now)) {
                    faults.add(
                            "%s was given to %s before the device plugin had it back: %s"
                                    .formatted(uuid, life, gpu.all()));
                }
            }
        });
    }

    /**
     * Who has just come back reads pods and grants one after the other. The device plugin lets a
     * pod wait that comes too early.
     */
    private boolean isCalm(Instant now) {
        Instant since = now.minus(NEWS.multipliedBy(5));
        return calmSince(since, now).equals(since);
    }

    private void release(String uid, Life life) {
        life.placement.forEach((container, uuids) ->
                uuids.forEach(uuid -> {
                    Gpu gpu = gpus.get(uuid);
                    if (gpu != null) {
                        gpu.holders.remove(holder(uid, container));
                    }
                }));
    }

    private void look(List<Life> waiting, Instant now) {
        for (Life life : waiting) {
            for (Gpu gpu : gpus.values()) {
                if (fits(life, gpu)) {
                    life.roomSince.putIfAbsent(gpu.uuid, now);
                } else {
                    life.roomSince.remove(gpu.uuid);
                }
            }
        }
    }

    /**
     * Of those that wait the most important one, of equals the first, is the one to get any room:
     * others may have to leave it to that one.
     */
    private void judgeWaiting(List<Life> waiting, Instant now) {
        var wanted = new TreeSet<String>();
        for (Life life : waiting.stream().sorted(FIRST_SERVED).toList()) {
            Set<String> own =
                    life.roomSince.keySet().stream()
                            .filter(gpu -> !isKeptForMany(gpu, life.priority))
                            .filter(wanted::add)
                            .collect(Collectors.toSet());
            life.ownRoomSince.keySet().retainAll(own);
            for (String uuid : own) {
                Instant since = life.ownRoomSince.computeIfAbsent(uuid, _ -> now);
                Duration waited = Duration.between(calmSince(since, now), now);
                if (waited.compareTo(longestWaitBesideRoom) > 0) {
                    longestWaitBesideRoom = waited;
                }
                if (waited.compareTo(PATIENCE) > 0) {
                    faults.add("%s waited beside room on %s since %s".formatted(life, uuid, since));
                }
            }
        }
    }

    /**
     * Whether it is kept for a pod that needs several rooms at once, of which this may be the first
     * that is free; of pods that need one the order says enough.
     */
    private boolean isKeptForMany(String gpu, int priority) {
        return kept.values().stream()
                .filter(it -> it.gpus().contains(gpu))
                .map(it -> lives.get(it.pod()))
                .anyMatch(it -> it != null && it.priority >= priority && needsMany(it));
    }

    private static boolean needsMany(Life life) {
        return life.asks.size() > 1
                || life.asks.values().stream().anyMatch(ask -> ask.core() > WHOLE);
    }

    /** Pods of one container with at most one GPU; others are placed, but nobody waits for them. */
    private static boolean fits(Life life, Gpu gpu) {
        if (life.asks.size() != 1) {
            return false;
        }
        Ask ask = life.asks.values().iterator().next();
        var all = gpu.all();
        all.put("", ask);
        return ask.core() <= WHOLE && gpu.fits(all);
    }

    /** The time since then that nothing was down; {@code now} while something is. */
    private Instant calmSince(Instant since, Instant now) {
        Instant calm = since;
        for (Outage outage : outages) {
            if (outage.to().isAfter(calm) && outage.from().isBefore(now)) {
                calm = outage.to();
            }
        }
        return calm.isAfter(now) ? now : calm;
    }

    private void judgeEviction(String uid, Life victim) {
        Instant at = requireNonNull(victim.preempted);
        Reservation reservation =
                reservations.values().stream()
                        .filter(it -> it.victims().contains(uid) && !it.made().isAfter(at))
                        .reduce((_, later) -> later)
                        .orElse(null);
        if (reservation == null) {
            faults.add("%s was preempted, and no room was kept".formatted(victim));
            return;
        }
        Life waiter = lives.get(reservation.pod());
        if (waiter == null || waiter.priority <= victim.priority) {
            faults.add("%s was preempted for %s".formatted(victim, waiter));
            return;
        }
        waiter.ownRoomSince.forEach((gpu, since) -> {
            if (calmSince(since, reservation.made()).isBefore(reservation.made().minus(NEWS))) {
                faults.add(
                        "%s was preempted for %s, which had room on %s since %s"
                                .formatted(victim, waiter, gpu, since));
            }
        });
        evictions.merge(fate(waiter, reservation, victim, at), 1, Integer::sum);
    }

    /** What an eviction was good for. */
    private String fate(Life waiter, Reservation reservation, Life victim, Instant at) {
        if (waiter.bound != null && waiter.bound.isBefore(at.minus(NEWS))) {
            faults.add("%s was preempted for %s, which had room by then".formatted(victim, waiter));
        }
        if (waiter.bound == null) {
            Duration stayed = Duration.between(calmSince(at, waiter.end()), waiter.end());
            if (stayed.compareTo(PATIENCE.multipliedBy(2)) > 0) {
                faults.add("%s was preempted for %s in vain".formatted(victim, waiter));
            }
            return "the pod left before";
        }
        return waiter.placement.values().stream()
                        .flatMap(List::stream)
                        .anyMatch(reservation.gpus()::contains)
                ? "the pod got the room"
                : "another place became free for the pod meanwhile";
    }
}
