package io.gpusharing.timekeeper.aggregated;

import io.fabric8.kubernetes.api.model.APIService;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.web.TrustBundle;
import io.gpusharing.web.LeaderTask;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.Base64;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Keeps written by which authority the API server knows us. */
@Component
class ApiServiceTrust extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(ApiServiceTrust.class);

    /** Version and group. */
    static final String NAME = "v1alpha1.usage.gpusharing.io";

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private final KubernetesClient client;
    private final TrustBundle authority;
    private final AggregatedProperties properties;

    ApiServiceTrust(
            KubernetesClient client,
            TrustBundle authority,
            AggregatedProperties properties,
            Leadership leadership,
            Clock clock) {
        super("api-service", leadership, clock);
        this.client = client;
        this.authority = authority;
        this.properties = properties;
    }

    @Override
    protected Instant work(Instant now) {
        String pem = authority.pem();
        if (!properties.enabled()) {
            return now.plusSeconds(30);
        }
        if (pem.isEmpty()) {
            return now.plusSeconds(1);
        }
        write(Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)));
        return now.plusSeconds(30);
    }

    private void write(String bundle) {
        Resource<APIService> resource = client.apiServices().withName(NAME);
        APIService present = resource.get();
        if (present == null) {
            throw new IllegalStateException(
                    "There is no APIService %s; create it as the chart does, or set api.aggregated: false"
                            .formatted(NAME));
        }
        if (!bundle.equals(present.getSpec().getCaBundle())) {
            resource.patch(MERGE, "{\"spec\":{\"caBundle\":\"%s\"}}".formatted(bundle));
            log.atInfo()
                    .addKeyValue("apiService", NAME)
                    .log("the API server is told our authority");
        }
    }
}
