package io.gpusharing.scheduler;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.ProviderAsk;
import io.gpusharing.request.grammar.MetagpuGrammar;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.cluster.RunningPodReader;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.preemption.ClusterReader;
import io.gpusharing.scheduler.preemption.Preemptions;
import io.gpusharing.scheduler.preemption.RunningPods;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The client finds its cluster by itself: KUBECONFIG, or the pod's own service account. */
@Configuration(proxyBeanMethods = false)
class SchedulerConfiguration {

    private static final Logger log = LoggerFactory.getLogger(SchedulerConfiguration.class);

    /** Of objects that are read here and that others write. */
    private static final List<String> KINDS =
            List.of("Pod", "Node", "PodDisruptionBudget", "GpuNode", "GpuReservation");

    @Bean(destroyMethod = "close")
    KubernetesClient kubernetesClient() {
        return new KubernetesClientBuilder()
                .withKubernetesSerialization(LeanObjects.serialization())
                .build();
    }

    /** The pods in kube-scheduler's questions are read as those of the API server are. */
    @Bean
    JsonMapperBuilderCustomizer leanQuestions() {
        return LeanObjects::lean;
    }

    @Bean
    UnreadableObjects unreadableObjects(MeterRegistry metrics) {
        var unreadable = new UnreadableObjects(SchedulerConfiguration::tell);
        for (String kind : KINDS) {
            Gauge.builder(
                            "gpusharing.objects.unreadable",
                            unreadable,
                            it ->
                                    it.present().stream()
                                            .filter(object -> object.kind().equals(kind))
                                            .count())
                    .description("Objects of the API server that cannot be read now")
                    .tag("kind", kind)
                    .register(metrics);
        }
        return unreadable;
    }

    private static void tell(Unreadable object) {
        log.atWarn()
                .addKeyValue("kind", object.kind())
                .addKeyValue("namespace", object.namespace())
                .addKeyValue("name", object.name())
                .addKeyValue("problem", object.why())
                .log("cannot read an object");
    }

    @Bean
    ProviderAsk providerAsk(SchedulerProperties properties) {
        return new ProviderAsk(MetagpuGrammar.units(properties.metagpuUnits()));
    }

    @Bean
    GpuPodReader gpuPodReader(ProviderAsk asks, SchedulerProperties properties) {
        return new GpuPodReader(
                asks, properties.strategy(), new PodSharing(properties.mpsAcross()));
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
    RunningPodReader runningPodReader(SchedulerProperties properties) {
        return new RunningPodReader(properties.gangLabel());
    }

    @Bean
    Preemptions preemptions(
            ClusterGpus gpus, RunningPods running, ClusterReader cluster, Clock clock) {
        return new Preemptions(gpus, running, cluster, clock);
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
