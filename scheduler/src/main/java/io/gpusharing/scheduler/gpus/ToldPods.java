package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.Shortage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * What pods that wait were told of it, and who is to be told something. Belongs to one thread at a
 * time.
 */
final class ToldPods {

    private static final Duration TELL_AFTER = Duration.ofSeconds(10);
    private static final Duration TELL_AGAIN = Duration.ofMinutes(5);

    private static final Duration OTHERS_WRITE_WITHIN = Duration.ofSeconds(30);

    /** kube-scheduler asks again after five minutes; else another replica is asked by now. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(11);

    /** How they were answered last. */
    private final Map<String, Refusal> refusals = new HashMap<>();

    /** Who was not told yet, and since when it waits; who waits longest comes first. */
    private final SequencedMap<String, Instant> untold = new LinkedHashMap<>();

    /** What the others were told, and when; who was told first comes first. */
    private final SequencedMap<String, Told> told = new LinkedHashMap<>();

    /** Who was told why it waits, and is bound. */
    private final SequencedMap<String, Placed> placed = new LinkedHashMap<>();

    private Instant lookedThrough = Instant.MIN;

    private record Refusal(GpuPod pod, Shortage why, Instant when) {}

    /**
     * @param text empty if what it was told is true no more
     */
    private record Told(String text, Instant when) {}

    /**
     * @param from when it is to be told
     */
    private record Placed(GpuPod pod, Instant from) {}

    void refused(GpuPod pod, Shortage why, Instant now) {
        refusals.put(pod.uid(), new Refusal(pod, why, now));
        if (!told.containsKey(pod.uid())) {
            untold.putIfAbsent(pod.uid(), now);
        }
    }

    /** It was told that there is room. */
    void woken(String podUid, Instant now) {
        if (refusals.containsKey(podUid)) {
            put(podUid, "", now);
        }
    }

    void bound(GpuPod pod) {
        refusals.remove(pod.uid());
        untold.remove(pod.uid());
        if (told.remove(pod.uid()) != null) {
            placed.put(pod.uid(), new Placed(pod, Instant.MIN));
        }
    }

    /**
     * What is written on a bound pod.
     *
     * @param waits whether that is why it waits. Who wrote it may have ended before it could write
     *     that the pod was placed; if it did not, it does so in a moment
     */
    void written(GpuPod pod, boolean waits, Instant now) {
        if (waits) {
            placed.putIfAbsent(pod.uid(), new Placed(pod, now.plus(OTHERS_WRITE_WITHIN)));
        } else {
            placed.remove(pod.uid());
        }
    }

    void forget(String podUid) {
        refusals.remove(podUid);
        untold.remove(podUid);
        told.remove(podUid);
        placed.remove(podUid);
    }

    /** Who has not been asked about for so long that another replica is asked about it. */
    List<String> forgotten(Instant now) {
        if (lookedThrough.isAfter(now.minusSeconds(60))) {
            return List.of();
        }
        lookedThrough = now;
        return refusals.values().stream()
                .filter(refusal -> refusal.when().plus(FORGOTTEN_AFTER).isBefore(now))
                .map(refusal -> refusal.pod().uid())
                .toList();
    }

    /** Who is bound at last, who waits for some time and was not told why, or was told long ago. */
    List<PodNews> due(int most, Instant now) {
        var news = new ArrayList<PodNews>();
        placed.values().stream()
                .filter(it -> !it.from().isAfter(now))
                .limit(most)
                .forEach(it -> news.add(new PodNews(it.pod(), true, "")));
        List<String> due =
                Stream.concat(
                                untold.entrySet().stream()
                                        .takeWhile(
                                                it -> !it.getValue().plus(TELL_AFTER).isAfter(now))
                                        .map(Map.Entry::getKey),
                                told.entrySet().stream()
                                        .takeWhile(it ->
                                                !it.getValue().when().plus(TELL_AGAIN).isAfter(now))
                                        .map(Map.Entry::getKey))
                        .limit(10L * most)
                        .toList();
        for (String uid : due) {
            Refusal refusal = refusals.get(uid);
            if (refusal == null || news.size() >= most) {
                continue;
            }
            String text = refusal.why().text(refusal.pod().asks());
            Told before = told.get(uid);
            if (before != null && before.text().equals(text)) {
                put(uid, text, now);
            } else {
                news.add(new PodNews(refusal.pod(), false, text));
            }
        }
        return news;
    }

    /**
     * It was told.
     *
     * @param bound whether it is bound, maybe since this was news
     */
    void told(PodNews news, boolean bound, Instant now) {
        String uid = news.pod().uid();
        if (news.placed()) {
            placed.remove(uid);
        } else if (refusals.containsKey(uid)) {
            put(uid, news.text(), now);
        } else if (bound) {
            placed.put(uid, new Placed(news.pod(), now));
        }
    }

    /** It could not be told, and is not to keep others waiting. */
    void failed(PodNews news, Instant now) {
        String uid = news.pod().uid();
        if (news.placed()) {
            placed.putLast(uid, new Placed(news.pod(), now));
        } else if (refusals.containsKey(uid)) {
            put(uid, "", now);
        }
    }

    private void put(String podUid, String text, Instant now) {
        untold.remove(podUid);
        told.putLast(podUid, new Told(text, now));
    }
}
