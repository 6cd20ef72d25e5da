package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.web.testing.ClientAuthority;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FrontProxyTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private static final String ADA = "ada";

    private final ClientAuthority authority = new ClientAuthority(NOW);
    private final FrontProxy known = FrontProxy.published(published("[\"front-proxy-client\"]"));
    private final Sent sent =
            new Sent()
                    .with("X-Remote-User", ADA)
                    .with("X-Remote-Uid", "7")
                    .with("X-Remote-Group", "research", "system:authenticated")
                    .with("X-Remote-Extra-Scopes", "gpu", "cpu")
                    .with("X-Remote-Extra-Example.com%2fFloor", "3");

    /** As kubeadm sets it up. */
    private Map<String, String> published(String names) {
        return Map.of(
                "requestheader-client-ca-file",
                Pem.of(authority.certificate()),
                "requestheader-allowed-names",
                names,
                "requestheader-username-headers",
                "[\"X-Remote-User\"]",
                "requestheader-uid-headers",
                "[\"X-Remote-Uid\"]",
                "requestheader-group-headers",
                "[\"X-Remote-Group\"]",
                "requestheader-extra-headers-prefix",
                "[\"X-Remote-Extra-\"]");
    }

    private static final class Sent implements FrontProxy.Headers {

        private final Map<String, List<String>> values =
                new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

        Sent with(String name, String... all) {
            values.put(name, List.of(all));
            return this;
        }

        @Override
        public Collection<String> names() {
            return values.keySet();
        }

        @Override
        public List<String> values(String name) {
            return values.getOrDefault(name, List.of());
        }
    }

    private Optional<Caller> caller(ServerIdentity shown) {
        return known.caller(List.of(shown.certificate()), sent, NOW);
    }

    @Test
    void theApiServerSaysWhoHasAsked() {
        assertThat(caller(authority.client("CN=front-proxy-client")))
                .contains(
                        new Caller(
                                ADA,
                                "7",
                                List.of("research", "system:authenticated"),
                                Map.of(
                                        "scopes",
                                        List.of("gpu", "cpu"),
                                        "example.com/floor",
                                        List.of("3"))));
    }

    @Test
    void headersOfAnybodyElseSayNothing() {
        assertThat(known.caller(List.of(), sent, NOW)).isEmpty();
        assertThat(caller(new ClientAuthority(NOW).client("CN=front-proxy-client"))).isEmpty();
        assertThat(caller(authority.server("CN=front-proxy-client"))).isEmpty();
        assertThat(caller(authority.expired("CN=front-proxy-client"))).isEmpty();
    }

    @Test
    void aNameThatMayNotPassOnSaysNothing() {
        ServerIdentity other = authority.client("CN=system:admin");

        assertThat(caller(other)).isEmpty();
        assertThat(
                        FrontProxy.published(published("[]"))
                                .caller(List.of(other.certificate()), sent, NOW))
                .map(Caller::name)
                .contains(ADA);
    }

    @Test
    void anAuthorityThatIsOverVouchesForNoApiServer() {
        Instant later = NOW.plus(Duration.ofDays(3_651));

        assertThat(
                        known.caller(
                                List.of(authority.client("CN=front-proxy-client").certificate()),
                                sent,
                                later))
                .isEmpty();
    }

    @Test
    void whoIsNotNamedHasNotAsked() {
        ServerIdentity proxy = authority.client("CN=front-proxy-client");

        assertThat(
                        known.caller(
                                List.of(proxy.certificate()),
                                new Sent().with("X-Remote-Group", "system:masters"),
                                NOW))
                .isEmpty();
    }

    @Test
    void anApiServerWithoutAnAggregatorPassesOnNothing() {
        var data = new HashMap<>(published("[]"));
        data.remove("requestheader-client-ca-file");

        assertThat(
                        FrontProxy.published(data)
                                .caller(
                                        List.of(authority.client("CN=any").certificate()),
                                        sent,
                                        NOW))
                .isEmpty();
    }
}
