package io.gpusharing.timekeeper.web;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.PublishedAuthority;
import java.time.Instant;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** The CA that meters trust. */
@Component
class ReportingAuthority implements TrustBundle {

    private final PublishedAuthority authority;

    ReportingAuthority(
            KubernetesClient client,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            TlsProperties properties) {
        this.authority =
                new PublishedAuthority(
                        client,
                        namespace,
                        properties.authority(),
                        "gpusharing reporting",
                        properties.authorityValidity());
    }

    /** As {@link PublishedAuthority#read}. */
    CertificateAuthority read(Instant now) {
        return authority.read(now);
    }

    @Override
    public String pem() {
        return authority.pem();
    }
}
