package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ApiServerClock;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.LeaderElector;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.LeaseSettings;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.cluster.PodLookup;
import io.gpusharing.scheduler.cluster.PreemptedPods;
import io.gpusharing.scheduler.cluster.RefusedStarts;
import io.gpusharing.web.LeaderElection;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Puts the evictor together, with a lease of its own. */
@Configuration(proxyBeanMethods = false)
class EvictingConfiguration {

    /** Only differences count; nobody sets it. */
    private static final InstantSource TICKS = () -> Instant.EPOCH.plusNanos(System.nanoTime());

    private static final Duration LEASE = Duration.ofSeconds(15);
    private static final Duration RENEW_DEADLINE = Duration.ofSeconds(10);
    private static final Duration RETRY = Duration.ofSeconds(1);

    /** Put back to the API server's where ours is ahead: plans are dated by that. */
    @Bean(defaultCandidate = false)
    @Qualifier("evicting")
    ApiServerClock evictingClock(Clock clock) {
        return new ApiServerClock(clock);
    }

    @Bean
    Leadership evictingLeadership(MeterRegistry registry) {
        var leadership = new Leadership(TICKS);
        Gauge.builder("gpusharing.evicting.leading", leadership, it -> it.leads() ? 1 : 0)
                .description("1 on the replica that evicts pods")
                .register(registry);
        return leadership;
    }

    @Bean
    LeaderElection evictingElection(
            EvictingProperties properties,
            Leadership leadership,
            Parts parts,
            @Qualifier("evicting") ApiServerClock clock) {
        var elector =
                new LeaderElector(
                        new LeaseSettings(
                                properties.namespace(),
                                properties.lease(),
                                properties.identity(),
                                LEASE,
                                RENEW_DEADLINE,
                                RETRY),
                        leadership,
                        TICKS,
                        clock);
        parts.add(elector.rounds());
        return new LeaderElection(elector);
    }

    @Bean
    EvictionWatch evictionWatch(KubernetesClient client, UnreadableObjects unreadable) {
        return new EvictionWatch(
                new ObjectInformer<>(
                        "gpuevictions", client.resources(GpuEviction.class), unreadable));
    }

    @Bean
    Evictor evictor(
            KubernetesClient client,
            EvictingProperties properties,
            RefusedStarts refused,
            PreemptedPods preempted,
            EvictionWatch watch,
            UnreadableObjects unreadable,
            Budgets budgets,
            FreshBudgets fresh,
            Leadership leadership,
            Parts parts,
            MeterRegistry registry,
            @Qualifier("evicting") ApiServerClock clock) {
        var overruns = new Overruns(budgets, fresh, clock);
        Evictor evictor =
                evictor(
                        client,
                        properties,
                        refused,
                        preempted,
                        watch,
                        unreadable,
                        budgets,
                        overruns::areKnown,
                        overruns::whyNot,
                        leadership,
                        parts.part("evicting"),
                        registry,
                        clock);
        refused.listen(evictor::trigger);
        return evictor;
    }

    /**
     * One of these collaborators.
     *
     * @param budgetsAreKnown as {@link Overruns#areKnown}
     * @param whyNotByBudgets as {@link Overruns#whyNot}
     */
    static Evictor evictor(
            KubernetesClient client,
            EvictingProperties properties,
            RefusedStarts refused,
            PreemptedPods preempted,
            EvictionWatch watch,
            UnreadableObjects unreadable,
            Budgets budgets,
            BooleanSupplier budgetsAreKnown,
            Function<EvictionPlan, Optional<String>> whyNotByBudgets,
            Leadership leadership,
            Rounds rounds,
            MeterRegistry registry,
            Clock clock) {
        var store = new PlanStore(client, unreadable.ofReader(), new EvictionMetrics(registry));
        var pods = new PodLookup(client);
        var preemptions = new PreemptionFollower(pods, watch, store);
        var waiters = new Waiters(pods, store);
        var refusedStarts =
                new RefusedStartPlanner(pods, store, refused, properties.startDeadline());
        return new Evictor(
                store,
                new Evictions(
                        new Surveyor(pods, preemptions, properties.maxGrace()),
                        new EvictionApi(client),
                        store,
                        new EvictionEvents(client, refused),
                        refusedStarts,
                        waiters,
                        budgetsAreKnown,
                        whyNotByBudgets,
                        properties.maxGrace()),
                preemptions,
                waiters,
                refusedStarts,
                new UnaskedPreemptions(
                        preempted,
                        new Preemptors(client),
                        watch,
                        store,
                        budgets,
                        properties.maxGrace()),
                watch,
                leadership,
                rounds,
                clock);
    }
}
