package io.gpusharing.scheduler.reclaiming;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.Standing;
import io.gpusharing.scheduler.picture.Past.PastEviction;
import io.gpusharing.scheduler.reclaiming.ToyCluster.Team;
import io.gpusharing.scheduler.reclaiming.ToyCluster.ToyPod;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Victim;
import io.gpusharing.scheduler.reclaiming.plan.Planner;
import io.gpusharing.scheduler.reclaiming.plan.Rules;
import io.gpusharing.sharing.GpuAsk;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Days of a small busy cluster. Whatever happens: no gang is evicted before its minimum run time,
 * none whose budget has time left, none that would not help, never more than the limit in a minute,
 * none that a PodDisruptionBudget protects before it has refused for long enough, and no two
 * workloads for each other. The checks share no code with the planner.
 */
class ReclaimSimulationTest {

    private static final Duration DAYS = Duration.ofDays(2);
    private static final Duration NO_RETURN = Duration.ofHours(12);
    private static final int PER_MINUTE = 3;
    private static final Duration INSIST = Duration.ofMinutes(3);
    private static final Rules RULES =
            new Rules(
                    Duration.ofSeconds(20),
                    Duration.ofMinutes(2),
                    Duration.ofMinutes(1),
                    PER_MINUTE,
                    NO_RETURN,
                    Duration.ofSeconds(30),
                    INSIST,
                    false);

    private record Done(Instant at, String plan, String victimTeam, String waiterTeam) {}

    private record Asked(String waiter, String gang) {}

    /** A life takes seconds, and is the same for the same seed. */
    private static final Map<Long, ToyCluster> LIVED = new HashMap<>();

    static LongStream seeds() {
        return LongStream.rangeClosed(1, 6);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void everyEvictionIsLegalAndNeeded(long seed) {
        LIVED.computeIfAbsent(seed, ReclaimSimulationTest::live);
    }

    @Test
    void evictionsHappenAndMostHelpAndSomeAreForced() {
        long refused = 0;
        long insisted = 0;
        long done = 0;
        long helped = 0;
        for (long seed = 1; seed <= 3; seed++) {
            ToyCluster cluster = LIVED.computeIfAbsent(seed, ReclaimSimulationTest::live);
            done += cluster.past().size();
            refused += cluster.refusals().size();
            insisted += cluster.insisted;
            helped += cluster.past().stream().filter(PastEviction::helped).count();
        }
        assertThat(done).isGreaterThan(20);
        assertThat(helped).isGreaterThan(done * 8 / 10);
        assertThat(refused).isGreaterThan(10);
        assertThat(insisted).isPositive().isLessThan(done / 2);
    }

    private static ToyCluster live(long seed) {
        ToyCluster cluster = new ToyCluster(seed);
        Planner planner = new Planner(RULES);
        var done = new java.util.ArrayList<Done>();
        var refused = new HashMap<Asked, Instant>();
        Instant end = cluster.now.plus(DAYS);
        while (cluster.now.isBefore(end)) {
            cluster.tick();
            for (Decision decision : planner.plan(cluster.snapshot(), node -> List.of())) {
                if (decision instanceof Evict plan) {
                    check(cluster, plan, done);
                    if (disruptionBudgetsAgree(cluster, plan, refused)) {
                        note(cluster, plan, done);
                    }
                    cluster.carryOut(plan, planner.settlesAt(plan, cluster.snapshot()));
                }
            }
        }
        return cluster;
    }

    private static Instant runsSince(ToyCluster cluster, String gang) {
        return cluster.pods.stream()
                .filter(pod -> pod.gang.equals(gang) && pod.node != null && pod.leavesAt == null)
                .map(pod -> pod.since)
                .min(Comparator.naturalOrder())
                .orElseThrow();
    }

    private static void check(ToyCluster cluster, Evict plan, List<Done> done) {
        String context = "%s: %s".formatted(cluster.now, plan);
        Team for_ = cluster.team(plan.waiter().pod().namespace());
        assertThat(for_.standing()).as(context).isInstanceOf(Standing.InBudget.class);
        assertThat(plan.waiter().since())
                .as(context)
                .isBeforeOrEqualTo(cluster.now.minusSeconds(20));

        Map<String, Set<String>> gangs = new HashMap<>();
        for (Victim victim : plan.victims()) {
            ToyPod pod = running(cluster, victim);
            Team team = cluster.team(pod.team);
            assertThat(team.used).as(context).isGreaterThanOrEqualTo(team.granted);
            assertThat(team.onExhausted).as(context).isIn(OnExhausted.Reclaim, OnExhausted.Refuse);
            assertThat(Duration.between(runsSince(cluster, pod.gang), cluster.now))
                    .as(context)
                    .isGreaterThanOrEqualTo(team.minimumRun);
            gangs.computeIfAbsent(pod.gang, gang -> new HashSet<>()).add(pod.uid);
            done.forEach(earlier ->
                    assertThat(
                                    earlier.victimTeam().equals(for_.name)
                                            && earlier.waiterTeam().equals(pod.team)
                                            && earlier.at().plus(NO_RETURN).isAfter(cluster.now))
                            .as("%s after %s", context, earlier)
                            .isFalse());
        }
        wholeGangs(cluster, gangs, context);
        isNecessaryAndSufficient(cluster, plan, gangs, context);
    }

    /**
     * Whether all victims may be evicted: protected ones only after they were refused for long
     * enough.
     */
    private static boolean disruptionBudgetsAgree(
            ToyCluster cluster, Evict plan, Map<Asked, Instant> refused) {
        Set<String> kept = new HashSet<>();
        for (Victim victim : plan.victims()) {
            ToyPod pod = running(cluster, victim);
            var asked = new Asked(plan.waiter().pod().uid(), pod.gang);
            if (victim.refusedSince() != null) {
                assertThat(pod.isProtected).isTrue();
                assertThat(refused.get(asked)).isBeforeOrEqualTo(cluster.now.minus(INSIST));
                cluster.insisted++;
            } else if (pod.isProtected) {
                kept.add(pod.uid);
                refused.putIfAbsent(asked, cluster.now);
            }
        }
        return kept.isEmpty();
    }

    private static void note(ToyCluster cluster, Evict plan, List<Done> done) {
        String context = "%s: %s".formatted(cluster.now, plan);
        Team for_ = cluster.team(plan.waiter().pod().namespace());
        String id = plan.waiter().pod().uid() + cluster.now;
        plan.victims()
                .forEach(victim -> done.add(new Done(cluster.now, id, victim.budget(), for_.name)));
        List<Done> lastMinute =
                done.stream().filter(it -> it.at().isAfter(cluster.now.minusSeconds(60))).toList();
        assertThat(
                        lastMinute.size() <= PER_MINUTE
                                || lastMinute.stream().map(Done::plan).distinct().count() == 1)
                .as(context)
                .isTrue();
    }

    private static void wholeGangs(
            ToyCluster cluster, Map<String, Set<String>> gangs, String context) {
        for (ToyPod pod : cluster.pods) {
            if (pod.node != null && pod.leavesAt == null && gangs.containsKey(pod.gang)) {
                assertThat(gangs.get(pod.gang)).as(context).contains(pod.uid);
            }
        }
    }

    private static void isNecessaryAndSufficient(
            ToyCluster cluster, Evict plan, Map<String, Set<String>> gangs, String context) {
        Set<String> all = new HashSet<>();
        gangs.values().forEach(all::addAll);
        assertThat(fitsAfter(cluster, plan, all)).as(context).isTrue();
        gangs.forEach((gang, members) -> {
            Set<String> others = new HashSet<>(all);
            others.removeAll(members);
            assertThat(fitsAfter(cluster, plan, others)).as(context).isFalse();
        });
    }

    private static boolean fitsAfter(ToyCluster cluster, Evict plan, Set<String> gone) {
        Map<String, Long> held = new HashMap<>(cluster.coresByGpu(plan.node(), gone));
        promised(cluster, plan, held);
        long cores = plan.waiter().ask().gpus().getFirst().cores();
        long fitting =
                List.of("0", "1").stream()
                        .filter(gpu -> 100 - held.getOrDefault(gpu, 0L) >= cores)
                        .count();
        return fitting >= plan.waiter().ask().gpus().getFirst().count();
    }

    /** Capacity on the same node that is reserved for others. */
    private static void promised(ToyCluster cluster, Evict plan, Map<String, Long> held) {
        cluster.past().stream()
                .filter(it -> !it.helped() && cluster.now.isBefore(it.settlesAt()))
                .filter(it -> it.node().equals(plan.node()))
                .map(it -> it.waiter().uid())
                .distinct()
                .forEach(uid ->
                        cluster.pods.stream()
                                .filter(pod -> pod.uid.equals(uid) && pod.node == null)
                                .forEach(pod -> occupy(pod, held)));
    }

    private static void occupy(ToyPod pod, Map<String, Long> held) {
        GpuAsk ask = pod.asks().getFirst();
        List.of("0", "1").stream()
                .filter(gpu -> 100 - held.getOrDefault(gpu, 0L) >= ask.cores())
                .sorted(
                        java.util.Comparator.comparingLong(
                                (String gpu) -> 100 - held.getOrDefault(gpu, 0L)))
                .limit(ask.count())
                .toList()
                .forEach(gpu -> held.merge(gpu, ask.cores(), Long::sum));
    }

    private static ToyPod running(ToyCluster cluster, Victim victim) {
        return cluster.pods.stream()
                .filter(pod -> pod.uid.equals(victim.pod().uid()) && pod.node != null)
                .findFirst()
                .orElseThrow();
    }
}
