package io.gpusharing.scheduler.reclaiming;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.BudgetClasses;
import io.gpusharing.scheduler.reservation.Reservations;
import io.gpusharing.web.Parts;
import java.time.Clock;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class ReclaimConfiguration {

    @Bean
    ReadingSettings readingSettings(
            @Value("${gpusharing.namespace}") String ownNamespace,
            ReclaimProperties properties,
            Gangs gangs,
            SchedulerName scheduler,
            PodSharing sharing,
            BudgetClasses classes) {
        return properties.reading(ownNamespace, gangs, scheduler, sharing, classes.overBudget());
    }

    @Bean
    Reclaimer reclaimer(
            Budgets budgets,
            ClusterSnapshotReader snapshots,
            ReclaimEvictions evictions,
            Reservations reservations,
            ReclaimProperties properties,
            ReclaimMetrics metrics,
            Leadership leadership,
            Parts parts,
            @Qualifier("evicting") Clock clock) {
        var reclaimer =
                new Reclaimer(
                        budgets,
                        snapshots,
                        evictions,
                        reservations,
                        properties,
                        metrics,
                        leadership,
                        clock);
        parts.add(reclaimer.rounds());
        return reclaimer;
    }
}
