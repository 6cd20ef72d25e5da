package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.web.testing.ClientAuthority;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.junit.jupiter.api.Test;

class ClientCertificatesTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private static final KeyPurposeId SERVERS = KeyPurposeId.id_kp_serverAuth;
    private static final KeyPurposeId CLIENTS = KeyPurposeId.id_kp_clientAuth;

    private final ClientAuthority authority = new ClientAuthority(NOW);
    private final ClientCertificates known =
            new ClientCertificates(List.of(authority.certificate()));

    private Optional<Caller> caller(ServerIdentity shown) {
        return known.caller(List.of(shown.certificate()), NOW);
    }

    @Test
    void theCommonNameIsTheUserAndOrganizationsAreTheGroups() {
        Caller caller = caller(authority.client("O=ops,O=gpu\\, team,CN=ada")).orElseThrow();

        assertThat(caller.name()).isEqualTo("ada");
        assertThat(caller.groups())
                .containsExactlyInAnyOrder("ops", "gpu, team", "system:authenticated");
    }

    @Test
    void whatTheClientSendsOfItsAuthorityBesidesChangesNothing() {
        ServerIdentity shown = authority.client("CN=system:kube-scheduler");

        assertThat(known.caller(List.of(shown.certificate(), shown.issuer()), NOW))
                .map(Caller::name)
                .contains("system:kube-scheduler");
    }

    @Test
    void anAuthorityOfTheSameNameIsAnother() {
        assertThat(caller(new ClientAuthority(NOW).client("CN=system:kube-scheduler"))).isEmpty();
    }

    @Test
    void nobodyVouchesForThemselves() {
        ServerIdentity own = new ClientAuthority(NOW).client("CN=system:kube-scheduler");

        assertThat(known.caller(List.of(own.certificate(), own.issuer()), NOW)).isEmpty();
        assertThat(known.caller(List.of(authority.certificate()), NOW)).isEmpty();
    }

    @Test
    void aClientIsNoAuthority() {
        ServerIdentity client = authority.client("CN=ada");
        ServerIdentity made =
                new CertificateAuthority(client.certificate(), client.key())
                        .issue(List.of("system:kube-scheduler"), NOW, Duration.ofDays(1));

        assertThat(known.caller(List.of(made.certificate(), client.certificate()), NOW)).isEmpty();
    }

    @Test
    void aCertificateThatIsOverOrNotYetValidIsNone() {
        ServerIdentity client = authority.client("CN=ada");

        assertThat(caller(authority.expired("CN=ada"))).isEmpty();
        assertThat(known.caller(List.of(client.certificate()), NOW.minus(Duration.ofDays(2))))
                .isEmpty();
    }

    @Test
    void anAuthorityThatIsOverVouchesForNobody() {
        Instant later = NOW.plus(Duration.ofDays(3_649));
        var late = new ClientAuthority(later);
        var old = new ClientCertificates(List.of(authority.certificate(), late.certificate()));
        Instant tooLate = NOW.plus(Duration.ofDays(3_651));

        assertThat(old.caller(List.of(late.client("CN=ada").certificate()), tooLate)).isPresent();
        assertThat(old.caller(List.of(authority.client("CN=ada").certificate()), tooLate))
                .isEmpty();
    }

    @Test
    void whoWasVouchedForBeforeIsNobodyWhenThatIsOver() {
        List<X509Certificate> shown = List.of(authority.client("CN=ada").certificate());
        X509Certificate client = shown.getFirst();

        assertThat(known.caller(shown, NOW)).isPresent();
        assertThat(known.caller(shown, client.getNotAfter().toInstant())).isPresent();
        assertThat(known.caller(shown, client.getNotAfter().toInstant().plusSeconds(1))).isEmpty();
        assertThat(known.caller(shown, client.getNotBefore().toInstant().minusSeconds(1)))
                .isEmpty();
        assertThat(known.caller(shown, NOW)).isPresent();
    }

    @Test
    void whomAnAuthorityVouchedForBeforeIsNobodyWhenThatIsOver() {
        var brief =
                new ClientAuthority(
                        CertificateAuthority.create("kubernetes", NOW, Duration.ofDays(30)), NOW);
        var once = new ClientCertificates(List.of(brief.certificate()));
        List<X509Certificate> shown = List.of(brief.client("CN=ada").certificate());
        Instant end = brief.certificate().getNotAfter().toInstant();

        assertThat(once.caller(shown, end)).isPresent();
        assertThat(once.caller(shown, end.plusSeconds(1))).isEmpty();
    }

    @Test
    void aServersCertificateIsNoClients() {
        assertThat(caller(authority.server("CN=system:kube-scheduler"))).isEmpty();
    }

    @Test
    void aCertificateForAnythingIsAClients() {
        assertThat(caller(authority.certified("CN=ada"))).isPresent();
        assertThat(caller(authority.certified("CN=ada", KeyPurposeId.anyExtendedKeyUsage)))
                .isPresent();
    }

    /** Who is shown by a client of an authority below the known one. */
    private Optional<Caller> callerBelow(ClientAuthority known, KeyPurposeId... purposes) {
        ClientAuthority below = known.below("CN=below", purposes);
        return new ClientCertificates(List.of(known.certificate()))
                .caller(List.of(below.client("CN=ada").certificate(), below.certificate()), NOW);
    }

    @Test
    void anAuthorityForServersAloneVouchesForNoClient() {
        // It may have authorities below itself.
        ClientAuthority known = authority.below("CN=known");

        assertThat(callerBelow(known)).isPresent();
        assertThat(callerBelow(known, KeyPurposeId.anyExtendedKeyUsage)).isPresent();
        assertThat(callerBelow(known, SERVERS, CLIENTS)).isPresent();
        assertThat(callerBelow(known, SERVERS)).isEmpty();
        assertThat(callerBelow(authority.below("CN=known", SERVERS))).isEmpty();
    }

    @Test
    void anAuthorityThatAllowsNoneBelowItselfHasNone() {
        assertThat(callerBelow(authority)).isEmpty();
    }

    @Test
    void withoutExactlyOneNameThereIsNobody() {
        assertThat(caller(authority.client("O=ops"))).isEmpty();
        assertThat(caller(authority.client("CN=ada,CN=system:kube-scheduler"))).isEmpty();
    }

    @Test
    void whereNobodyVouchesOrNothingIsShownThereIsNobody() {
        assertThat(
                        new ClientCertificates(List.of())
                                .caller(List.of(authority.client("CN=ada").certificate()), NOW))
                .isEmpty();
        assertThat(known.caller(List.of(), NOW)).isEmpty();
    }
}
