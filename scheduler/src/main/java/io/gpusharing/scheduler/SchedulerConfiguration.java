package io.gpusharing.scheduler;

import static io.gpusharing.kubernetes.ApiServerAccess.watching;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.ApiServerConnections;
import io.gpusharing.kubernetes.DefectEvents;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.CustomResource;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.cluster.RunningPodReader;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.pods.EndingRules;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.BudgetClasses;
import io.gpusharing.scheduler.preemption.ClusterReader;
import io.gpusharing.scheduler.preemption.Preemptions;
import io.gpusharing.scheduler.preemption.PresentStandings;
import io.gpusharing.scheduler.preemption.RunningPods;
import io.gpusharing.scheduler.reclaiming.ReclaimProperties;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.web.ApiServerAccessTask;
import io.gpusharing.web.Parts;
import io.gpusharing.web.UnreadableReport;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The client finds its cluster by itself: KUBECONFIG, or the pod's own service account. */
@Configuration(proxyBeanMethods = false)
class SchedulerConfiguration {

    @Bean(destroyMethod = "close")
    KubernetesClient kubernetesClient() {
        return new KubernetesClientBuilder()
                .withKubernetesSerialization(LeanObjects.serialization())
                .withHttpClientFactory(new ApiServerConnections())
                .build();
    }

    /** The pods in kube-scheduler's questions are read as those of the API server are. */
    @Bean
    JsonMapperBuilderCustomizer leanQuestions() {
        return LeanObjects::lean;
    }

    @Bean
    UnreadableObjects unreadableObjects(MeterRegistry metrics) {
        return UnreadableReport.objects(metrics);
    }

    @Bean
    Parts parts(
            KubernetesClient client,
            @Value("${gpusharing.namespace}") String namespace,
            @Value("${gpusharing.pod}") String pod,
            MeterRegistry metrics,
            Clock clock) {
        var events =
                new DefectEvents(
                        client, Names.SCHEDULER, namespace, pod, Thread::startVirtualThread, clock);
        return new Parts(metrics, events::follow, clock);
    }

    /** Who is refused can bind no pod and evict none: another replica may. */
    @Bean
    ApiServerAccessTask apiServer(KubernetesClient client, MeterRegistry metrics, Clock clock) {
        return new ApiServerAccessTask(
                client,
                List.of(
                        watching("", "pods"),
                        watching("", "nodes"),
                        watching("gpusharing.io", "gpunodes"),
                        watching("gpusharing.io", "gpureservations")),
                Duration.ZERO,
                metrics,
                clock);
    }

    @Bean
    ProviderAsk providerAsk(SchedulerProperties properties) {
        return new ProviderAsk(MetagpuGrammar.units(properties.metagpuUnits()));
    }

    @Bean
    RequestGrammars requestGrammars(RequestProperties requests, SchedulerProperties properties) {
        return RequestGrammars.of(
                requests.grammars(),
                new GrammarSettings(
                        requests.customResources().entrySet().stream()
                                .map(it -> CustomResource.of(it.getKey(), it.getValue()))
                                .toList(),
                        properties.metagpuUnits()));
    }

    @Bean
    PodSharing podSharing(SchedulerProperties properties) {
        return new PodSharing(properties.mpsAcross());
    }

    @Bean
    Gangs gangs(SchedulerProperties properties) {
        return new Gangs(properties.gangLabels(), properties.gangOwners());
    }

    @Bean
    GpuPodReader gpuPodReader(
            ProviderAsk asks, SchedulerProperties properties, PodSharing sharing) {
        return new GpuPodReader(asks, properties.strategy(), sharing);
    }

    @Bean
    ClusterGpus clusterGpus(SchedulerProperties properties) {
        return new ClusterGpus(properties.reservation(), properties.candidates());
    }

    @Bean
    RunningPods runningPods() {
        return new RunningPods();
    }

    @Bean
    RunningPodReader runningPodReader(Gangs gangs) {
        return new RunningPodReader(gangs);
    }

    @Bean
    Preemptions preemptions(
            ClusterGpus gpus,
            RunningPods running,
            ClusterReader cluster,
            PresentStandings standings,
            BudgetClasses classes,
            ReclaimProperties reclaim,
            Clock clock) {
        return new Preemptions(
                gpus,
                running,
                cluster,
                standings,
                classes,
                new EndingRules(reclaim.settle(), reclaim.maxGrace()),
                clock);
    }

    @Bean
    BudgetClasses budgetClasses(SchedulerProperties properties) {
        return new BudgetClasses(properties.inBudgetPriority(), properties.overBudgetPriority());
    }

    @Bean
    SchedulerName schedulerName(SchedulerProperties properties) {
        return new SchedulerName(properties.name());
    }

    @Bean
    Clock clock() {
        return Clock.systemUTC();
    }
}
