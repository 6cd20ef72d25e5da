package io.gpusharing.timekeeper.aggregated;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.web.Caller;
import io.gpusharing.web.ClientCertificateRequest;
import io.gpusharing.web.FrontProxy;
import io.gpusharing.web.LeaderTask;
import jakarta.servlet.http.HttpServletRequest;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.stereotype.Component;

/**
 * Knows the API server by what it publishes of itself. That may change at any time: it is read
 * again each half minute, and when somebody shows a certificate that is not known.
 */
@Component
class FrontProxies extends LeaderTask {

    /** Strangers do not have the API server asked more often. */
    private static final Duration QUIET = Duration.ofSeconds(1);

    private static final String NAMESPACE = "kube-system";
    private static final String NAME = "extension-apiserver-authentication";

    private final KubernetesClient client;
    private final AggregatedProperties properties;
    private final Clock clock;
    private volatile FrontProxy known = FrontProxy.NONE;
    private Map<String, String> published = Map.of();
    private volatile Instant read = Instant.EPOCH;

    FrontProxies(KubernetesClient client, AggregatedProperties properties, Clock clock) {
        super("front-proxies", clock);
        this.client = client;
        this.properties = properties;
        this.clock = clock;
    }

    @Override
    protected Instant work(Instant now) {
        if (properties.enabled() && (now.isBefore(read) || !now.isBefore(read.plus(QUIET)))) {
            read = now;
            ConfigMap map = client.configMaps().inNamespace(NAMESPACE).withName(NAME).get();
            Map<String, String> data = map == null ? null : map.getData();
            Map<String, String> found = data == null ? Map.of() : data;
            // What is known remembers whom it has vouched for.
            if (!found.equals(published)) {
                known = FrontProxy.published(found);
                published = found;
            }
        }
        return now.plusSeconds(30);
    }

    /** Who has asked; empty unless the API server says it. */
    Optional<Caller> caller(HttpServletRequest request) {
        List<X509Certificate> shown =
                ClientCertificateRequest.shown(
                        request.getAttribute(ClientCertificateRequest.ATTRIBUTE));
        Optional<Caller> caller = known.caller(shown, new Sent(request), clock.instant());
        if (caller.isEmpty() && !shown.isEmpty()) {
            trigger();
        }
        return caller;
    }

    /** Headers of a request. */
    private record Sent(HttpServletRequest request) implements FrontProxy.Headers {

        @Override
        public Collection<String> names() {
            return Collections.list(request.getHeaderNames());
        }

        @Override
        public List<String> values(String name) {
            // Names are sent in UTF-8, and headers are read byte by byte.
            return Collections.list(request.getHeaders(name)).stream()
                    .map(value -> new String(value.getBytes(ISO_8859_1), UTF_8))
                    .toList();
        }
    }
}
