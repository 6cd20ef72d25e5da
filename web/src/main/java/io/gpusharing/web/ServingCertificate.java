package io.gpusharing.web;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleRegistry;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;

/** The certificate that a replica serves. It lives in memory only. */
public final class ServingCertificate {

    private final SslBundleRegistry registry;
    private final String bundle;
    private final List<String> names;
    private final Duration validity;
    private volatile ServerIdentity served;

    /**
     * @param bundle name of the bundle in {@code server.ssl.bundle}
     * @param provisional what is served until an authority has issued the first
     * @param names DNS names and IP addresses that clients reach this replica by
     */
    public ServingCertificate(
            SslBundleRegistry registry,
            String bundle,
            ServerIdentity provisional,
            List<String> names,
            Duration validity) {
        this.registry = registry;
        this.bundle = bundle;
        this.served = provisional;
        this.names = names;
        this.validity = validity;
    }

    /** A certificate that nobody trusts, to start the server with before anything else is known. */
    public static ServerIdentity provisional(Instant now) {
        Duration hour = Duration.ofHours(1);
        return CertificateAuthority.create("gpusharing-provisional", now, hour)
                .issue(List.of("localhost"), now, hour);
    }

    /** What a server serves a certificate from. */
    public static SslBundle bundle(ServerIdentity identity) {
        return SslBundle.of(
                new PemSslStoreBundle(
                        PemSslStore.of(
                                List.of(identity.certificate(), identity.issuer()), identity.key()),
                        null));
    }

    /** Names of a Service, its full one first, and more. */
    public static List<String> names(String service, String namespace, List<String> more) {
        String inNamespace = service + "." + namespace;
        return Stream.concat(
                        Stream.of(
                                inNamespace + ".svc",
                                service,
                                inNamespace,
                                inNamespace + ".svc.cluster.local"),
                        more.stream())
                .distinct()
                .toList();
    }

    /** What is served now. */
    public ServerIdentity served() {
        return served;
    }

    /** The first of its names. */
    public String name() {
        return names.getFirst();
    }

    /**
     * Whether a new one is needed: the authority changed, or two thirds of the time have passed.
     */
    public boolean isDue(CertificateAuthority authority, Instant now) {
        return !served.issuer().equals(authority.certificate()) || !now.isBefore(served.renewAt());
    }

    /** Serves a new certificate from the next handshake on. */
    public void renew(CertificateAuthority authority, Instant now) {
        ServerIdentity next = authority.issue(names, now, validity);
        registry.updateBundle(bundle, bundle(next));
        served = next;
    }
}
