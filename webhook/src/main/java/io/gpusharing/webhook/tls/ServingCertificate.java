package io.gpusharing.webhook.tls;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.ServerIdentity;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.SslStoreBundle;

/** The certificate that this replica serves. It lives in memory only. */
final class ServingCertificate {

    /** Name of the bundle in {@code server.ssl.bundle}. */
    static final String BUNDLE = "admission";

    private final SslBundleRegistry registry;
    private final List<String> names;
    private final Duration validity;
    private volatile ServerIdentity served;

    /**
     * @param provisional what is served until an authority has issued the first
     */
    ServingCertificate(
            SslBundleRegistry registry,
            ServerIdentity provisional,
            List<String> names,
            Duration validity) {
        this.registry = registry;
        this.served = provisional;
        this.names = names;
        this.validity = validity;
    }

    /** A certificate that nobody trusts, to start the server with before anything else is known. */
    static ServerIdentity provisional(Instant now) {
        Duration hour = Duration.ofHours(1);
        return CertificateAuthority.create("gpusharing-provisional", now, hour)
                .issue(List.of("localhost"), now, hour);
    }

    static SslBundle bundle(ServerIdentity identity) {
        return SslBundle.of(
                SslStoreBundle.of(identity.keyStore(), null, null),
                SslBundleKey.of(null, ServerIdentity.ALIAS));
    }

    /** Names that API servers and we ourselves reach this replica by. */
    static List<String> names(String service, String namespace, List<String> more) {
        var names = new ArrayList<String>();
        String inNamespace = service + "." + namespace;
        names.add(inNamespace + ".svc");
        names.add(service);
        names.add(inNamespace);
        names.add(inNamespace + ".svc.cluster.local");
        names.addAll(more);
        return names.stream().distinct().toList();
    }

    ServerIdentity served() {
        return served;
    }

    /** The first of its names. */
    String name() {
        return names.getFirst();
    }

    /**
     * Whether a new one is needed: the authority changed, or two thirds of the time have passed.
     */
    boolean isDue(CertificateAuthority authority, Instant now) {
        return !served.issuer().equals(authority.certificate()) || !now.isBefore(served.renewAt());
    }

    /** Serves a new certificate from the next handshake on. */
    void renew(CertificateAuthority authority, Instant now) {
        ServerIdentity next = authority.issue(names, now, validity);
        registry.updateBundle(BUNDLE, bundle(next));
        served = next;
    }
}
