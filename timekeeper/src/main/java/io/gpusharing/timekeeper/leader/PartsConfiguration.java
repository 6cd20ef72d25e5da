package io.gpusharing.timekeeper.leader;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.DefectEvents;
import io.gpusharing.web.Part;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Shows of each part of the timekeeper whether its rounds fail. */
@Configuration(proxyBeanMethods = false)
class PartsConfiguration {

    @Bean
    Parts parts(
            KubernetesClient client,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            LeadershipProperties properties,
            List<Part> all,
            MeterRegistry metrics,
            Clock clock) {
        var events =
                new DefectEvents(
                        client,
                        Names.TIMEKEEPER,
                        namespace,
                        properties.identity(),
                        Thread::startVirtualThread,
                        clock);
        var parts = new Parts(metrics, events::follow, clock);
        all.stream().map(Part::rounds).forEach(parts::add);
        return parts;
    }
}
