package io.gpusharing.timekeeper.usage.intake;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.timekeeper.usage.MemoryExcessLog;
import io.gpusharing.timekeeper.usage.RunningProcesses;
import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.usage.reporter.ClusterKeys;
import io.gpusharing.timekeeper.usage.reporter.ReporterTokens;
import io.gpusharing.timekeeper.usage.reporter.TokenReviews;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class UsageConfiguration {

    /** As many as PostgreSQL and we have processors together in the smallest installation. */
    private static final int LANES = 2;

    @Bean
    ReportAuthorizer reportAuthorizer(@Value("${gpusharing.cluster.namespace}") String namespace) {
        return new ReportAuthorizer(namespace + "/gpusharing-node-agent");
    }

    @Bean
    ReporterTokens reporterTokens(KubernetesClient client, Clock clock) {
        return new ReporterTokens(
                new ClusterKeys(client::raw), new TokenReviews(client)::review, clock);
    }

    @Bean
    CommitLanes usageCommits(
            UsageReportRepository reports, UsageProperties properties, MeterRegistry registry) {
        CommitLanes commits =
                new CommitLanes(
                        Stream.generate(() ->
                                        new GroupCommit(
                                                reports::post,
                                                properties.maxBatch(),
                                                properties.maxWaiting(),
                                                properties.patience()))
                                .limit(LANES)
                                .toList());
        Gauge.builder("gpusharing.usage.waiting", commits, CommitLanes::waiting)
                .description("Usage reports that wait for their transaction")
                .register(registry);
        return commits;
    }

    @Bean
    AgentFindings agentFindings(KubernetesClient client, MemoryExcessLog excesses) {
        return new AgentFindings(client, excesses, Thread::startVirtualThread);
    }

    @Bean
    ProcessReports processReports(
            RunningProcesses processes,
            @Value("${gpusharing.aggregated.enabled:false}") boolean canBeAsked) {
        return new ProcessReports(processes, canBeAsked, Thread::startVirtualThread);
    }

    @Bean
    RefusalNotices refusalNotices(KubernetesClient client) {
        return new RefusalNotices(new Events(client, Names.TIMEKEEPER), Thread::startVirtualThread);
    }
}
