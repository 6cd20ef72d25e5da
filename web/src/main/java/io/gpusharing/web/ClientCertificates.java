package io.gpusharing.web;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateParsingException;
import java.security.cert.PKIXCertPathValidatorResult;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.ASN1String;
import org.bouncycastle.asn1.x500.AttributeTypeAndValue;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.jspecify.annotations.Nullable;

/**
 * Authorities whose certificates say who a client is, as kube-apiserver reads them: the common name
 * is the user, each organization a group. Such certificates cannot be revoked.
 *
 * <p>What Go's {@code x509.Certificate.Verify} asks of a path, with the key usage {@code
 * ClientAuth}, is asked here. Stricter than there: the certificates have to be in order and all of
 * the path, one with several common names is nobody's, and an authority is no client.
 */
public final class ClientCertificates {

    private static final List<String> FOR_CLIENTS =
            List.of(
                    KeyPurposeId.id_kp_clientAuth.getId(),
                    KeyPurposeId.anyExtendedKeyUsage.getId());

    private static final String AUTHENTICATED = "system:authenticated";

    private static final int MAX_KNOWN = 100;

    private final List<X509Certificate> authorities;

    /**
     * Who vouched for whom. Its signatures were checked then, and take longer than most questions;
     * whether it is still valid is asked each time.
     */
    private final Cache<List<X509Certificate>, X509Certificate> vouched =
            Caffeine.newBuilder().maximumSize(MAX_KNOWN).build();

    /**
     * @param authorities certificates of the authorities, perhaps none
     */
    public ClientCertificates(List<X509Certificate> authorities) {
        this.authorities = List.copyOf(authorities);
    }

    /** Whether there is an authority at all. */
    public boolean isEmpty() {
        return authorities.isEmpty();
    }

    /**
     * Who shows these certificates; that they hold the key to the first one is TLS's business.
     *
     * @param shown the client's own certificate and those between it and its authority, in this
     *     order
     * @return empty unless one of the authorities vouches for it at this moment, as for a client,
     *     and it has exactly one common name
     */
    public Optional<Caller> caller(List<X509Certificate> shown, Instant now) {
        if (shown.isEmpty() || authorities.isEmpty() || !isVouchedFor(shown, now)) {
            return Optional.empty();
        }
        X500Name subject =
                X500Name.getInstance(shown.getFirst().getSubjectX500Principal().getEncoded());
        List<String> names = values(subject, BCStyle.CN);
        return names.size() == 1 && !names.getFirst().isEmpty()
                ? Optional.of(
                        new Caller(
                                names.getFirst(),
                                "",
                                Stream.concat(
                                                values(subject, BCStyle.O).stream(),
                                                Stream.of(AUTHENTICATED))
                                        .toList(),
                                Map.of()))
                : Optional.empty();
    }

    private boolean isVouchedFor(List<X509Certificate> shown, Instant now) {
        X509Certificate known = vouched.getIfPresent(shown);
        if (known != null
                && isValid(known, now)
                && shown.stream().allMatch(certificate -> isValid(certificate, now))) {
            return true;
        }
        X509Certificate authority = authorityOf(shown, now);
        if (authority != null) {
            vouched.put(List.copyOf(shown), authority);
        }
        return authority != null;
    }

    /** The one that vouches for a path of certificates at this moment; null if none does. */
    private @Nullable X509Certificate authorityOf(List<X509Certificate> shown, Instant now) {
        try {
            var parameters =
                    new PKIXParameters(
                            authorities.stream()
                                    .filter(authority -> isValid(authority, now))
                                    .map(authority -> new TrustAnchor(authority, null))
                                    .collect(Collectors.toSet()));
            parameters.setRevocationEnabled(false);
            parameters.setDate(Date.from(now));
            var valid =
                    (PKIXCertPathValidatorResult)
                            CertPathValidator.getInstance("PKIX")
                                    .validate(
                                            CertificateFactory.getInstance("X.509")
                                                    .generateCertPath(shown),
                                            parameters);
            X509Certificate authority = valid.getTrustAnchor().getTrustedCert();
            return !isAuthority(shown.getFirst())
                            && isShortEnough(shown, authority)
                            && areForClients(shown)
                            && areForClients(List.of(authority))
                    ? authority
                    : null;
        } catch (GeneralSecurityException e) {
            return null;
        }
    }

    /** Java does not ask this of an anchor, and kube-apiserver does. */
    private static boolean isValid(X509Certificate certificate, Instant now) {
        return !now.isBefore(certificate.getNotBefore().toInstant())
                && !now.isAfter(certificate.getNotAfter().toInstant());
    }

    private static boolean isAuthority(X509Certificate certificate) {
        return certificate.getBasicConstraints() >= 0;
    }

    /** Nor this: how many authorities the anchor allows between itself and a client. */
    private static boolean isShortEnough(List<X509Certificate> shown, X509Certificate authority) {
        long between = shown.stream().skip(1).filter(link -> !link.equals(authority)).count();
        int allowed = authority.getBasicConstraints();
        return allowed < 0 || between <= allowed;
    }

    /**
     * Authorities sign servers' certificates, too, and some may sign nothing else. One that names
     * no purpose is for any.
     */
    private static boolean areForClients(List<X509Certificate> path)
            throws CertificateParsingException {
        for (X509Certificate certificate : path) {
            List<String> purposes = certificate.getExtendedKeyUsage();
            if (purposes != null && Collections.disjoint(purposes, FOR_CLIENTS)) {
                return false;
            }
        }
        return true;
    }

    private static List<String> values(X500Name subject, ASN1ObjectIdentifier type) {
        return Arrays.stream(subject.getRDNs())
                .flatMap(rdn -> Arrays.stream(rdn.getTypesAndValues()))
                .filter(attribute -> attribute.getType().equals(type))
                .map(AttributeTypeAndValue::getValue)
                .map(value -> value instanceof ASN1String text ? text.getString() : "")
                .toList();
    }
}
