package io.gpusharing.scheduler.reclaiming;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.evicting.EvictionWatch;
import io.gpusharing.scheduler.picture.Past;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/**
 * The {@code GpuEviction} objects of reclaim. Their names count the plans, so that of two replicas
 * that plan from one reading only one can write its plan down.
 */
@Component
public class ReclaimEvictions {

    private static final Pattern NAME = Pattern.compile("reclaim-([0-9]{6,18})");

    private final KubernetesClient client;
    private final EvictionWatch watch;
    private final UnreadableObjects unreadable;

    /** Names of those that the watch may not show yet. */
    private final Set<String> awaited = new HashSet<>();

    public ReclaimEvictions(
            KubernetesClient client, EvictionWatch watch, UnreadableObjects unreadable) {
        this.client = client;
        this.watch = watch;
        this.unreadable = unreadable;
    }

    /**
     * Whether all are known that were there when we wrote the last one, or were told by a conflict
     * that another replica has.
     *
     * @throws KubernetesClientException if the API server cannot be asked
     */
    boolean areCurrent() {
        awaited.removeIf(name -> isShown(name) || isGone(name));
        return watch.isListed() && awaited.isEmpty();
    }

    private boolean isShown(String name) {
        return watch.shows(name) || unreadNames().anyMatch(name::equals);
    }

    private boolean isGone(String name) {
        return client.resources(GpuEviction.class).withName(name).get() == null;
    }

    /** Whether all that there are have ever been listed. */
    public boolean areListed() {
        return watch.isListed();
    }

    /** Whether there are twice as many as are kept: those that have ended do not go any more. */
    boolean areTooMany() {
        return watch.all().size() > 2 * GpuEviction.MOST;
    }

    /**
     * The number of the last plan, 0 before the first. To be read before everything else that a
     * plan is drawn up from: it is written only if nobody has written another since.
     */
    long last() {
        return Stream.concat(watch.all().stream().map(EvictionPlan::name), unreadNames())
                .mapToLong(ReclaimEvictions::number)
                .max()
                .orElse(0);
    }

    /** One that cannot be read has its number all the same. */
    private Stream<String> unreadNames() {
        return unreadable.present().stream()
                .filter(it -> it.kind().equals(GpuEviction.KIND))
                .map(Unreadable::name);
    }

    private static long number(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : 0;
    }

    /** The name of a plan. */
    static String name(long number) {
        return "reclaim-%06d".formatted(number);
    }

    /**
     * Writes an order down, by which it is carried out.
     *
     * @return false if another replica has written one of that name
     * @throws KubernetesClientException if the API server does not take it, or cannot be asked
     */
    boolean write(GpuEviction order) {
        // It may have been written also where no answer comes.
        awaited.add(order.getMetadata().getName());
        return GpuEvictions.create(client, order);
    }

    /** What the plans that were written after an instant have come to. */
    public Past past(Instant since) {
        List<ReclaimPlan> plans = since(since);
        var going = new HashMap<String, Instant>();
        plans.forEach(plan ->
                plan.going()
                        .forEach(uid ->
                                going.merge(
                                        uid,
                                        plan.settlesAt(),
                                        (one, other) -> one.isBefore(other) ? other : one)));
        return new Past(
                plans.stream().flatMap(it -> it.evictions().stream()).toList(),
                plans.stream().flatMap(it -> it.refusals().stream()).toList(),
                going);
    }

    /** The plans that were written after an instant, oldest first. */
    List<ReclaimPlan> since(Instant instant) {
        return watch.all().stream()
                .filter(it -> it.created().isAfter(instant))
                .flatMap(it -> ReclaimPlan.of(it).stream())
                .sorted(Comparator.comparing(ReclaimPlan::at))
                .toList();
    }
}
