package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CertificateAuthorityTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    private static final Duration WEEK = Duration.ofDays(7);

    private final CertificateAuthority authority =
            CertificateAuthority.create("gpusharing-test", NOW, Duration.ofDays(365));

    @Test
    void issuesLeavesThatItsOwnCertificateVouchesFor() {
        ServerIdentity leaf = authority.issue(List.of("webhook.test.svc"), NOW, WEEK);

        assertThatCode(() -> validate(leaf, authority.certificate(), NOW))
                .doesNotThrowAnyException();
    }

    @Test
    void leavesOfAnotherAuthorityOfTheSameNameAreRefused() {
        var other = CertificateAuthority.create("gpusharing-test", NOW, Duration.ofDays(365));
        ServerIdentity leaf = other.issue(List.of("webhook.test.svc"), NOW, WEEK);

        assertThatThrownBy(() -> validate(leaf, authority.certificate(), NOW))
                .isInstanceOf(GeneralSecurityException.class);
    }

    @Test
    void namesAndAddressesBecomeAlternativeNamesOfTheirKind() throws Exception {
        ServerIdentity leaf =
                authority.issue(List.of("webhook.test.svc", "127.0.0.1", "::1"), NOW, WEEK);

        assertThat(leaf.certificate().getSubjectAlternativeNames())
                .containsExactly(
                        List.of(2, "webhook.test.svc"),
                        List.of(7, "127.0.0.1"),
                        List.of(7, "0:0:0:0:0:0:0:1"));
    }

    @Test
    void aLeafIsValidForMachinesWhoseClockIsHoursBehind() {
        ServerIdentity leaf = authority.issue(List.of("a"), NOW, WEEK);

        assertThatCode(() ->
                        validate(leaf, authority.certificate(), NOW.minus(Duration.ofHours(23))))
                .doesNotThrowAnyException();
    }

    @Test
    void aLeafNeverOutlivesItsIssuer() {
        ServerIdentity leaf = authority.issue(List.of("a"), NOW, Duration.ofDays(1000));

        assertThat(leaf.certificate().getNotAfter())
                .isEqualTo(authority.certificate().getNotAfter());
    }

    @Test
    void aLeafServesOnlyAsAServerAndSignsNothing() throws Exception {
        X509Certificate leaf = authority.issue(List.of("a"), NOW, WEEK).certificate();

        assertThat(leaf.getBasicConstraints()).isEqualTo(-1);
        assertThat(leaf.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
        assertThat(authority.certificate().getBasicConstraints()).isZero();
    }

    @Test
    void everyLeafHasItsOwnKeyAndSerial() {
        ServerIdentity one = authority.issue(List.of("a"), NOW, WEEK);
        ServerIdentity two = authority.issue(List.of("a"), NOW, WEEK);

        assertThat(one.certificate().getSerialNumber())
                .isNotEqualTo(two.certificate().getSerialNumber());
        assertThat(one.key()).isNotEqualTo(two.key());
    }

    @Test
    void aLeafIsRenewedAfterTwoThirdsOfItsValidity() {
        ServerIdentity leaf = authority.issue(List.of("a"), NOW, Duration.ofDays(5));

        // A day back and five days on: six days, of which four have passed three days from now.
        assertThat(leaf.renewAt()).isEqualTo(NOW.plus(Duration.ofDays(3)));
    }

    @Test
    void certificatesAndKeysSurviveTheirTextForm() {
        String certificates = Pem.of(List.of(authority.certificate(), authority.certificate()));

        assertThat(Pem.certificates(certificates))
                .containsExactly(authority.certificate(), authority.certificate());
        assertThat(Pem.privateKey(Pem.of(authority.key()))).isEqualTo(authority.key());
    }

    @Test
    void aBrokenKeyIsRefusedWithoutQuotingIt() {
        assertThatThrownBy(() -> Pem.privateKey("c2VjcmV0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("c2VjcmV0")
                .hasNoCause();
    }

    private static void validate(ServerIdentity leaf, X509Certificate anchor, Instant at)
            throws GeneralSecurityException {
        var parameters = new PKIXParameters(Set.of(new TrustAnchor(anchor, null)));
        parameters.setRevocationEnabled(false);
        parameters.setDate(Date.from(at));
        CertPathValidator.getInstance("PKIX")
                .validate(
                        CertificateFactory.getInstance("X.509")
                                .generateCertPath(List.of(leaf.certificate())),
                        parameters);
    }
}
