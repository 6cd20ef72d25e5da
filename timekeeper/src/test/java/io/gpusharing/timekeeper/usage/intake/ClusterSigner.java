package io.gpusharing.timekeeper.usage.intake;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Signs tokens as kube-apiserver does, with keys made for the test. */
public final class ClusterSigner implements Function<String, @Nullable String> {

    static final String ISSUER = "https://kubernetes.default.svc.cluster.local";

    public final JWK key;
    public boolean reachable = true;
    public int reads;

    private ClusterSigner(JWK key) {
        this.key = key;
    }

    public static ClusterSigner rsa() {
        try {
            return new ClusterSigner(
                    new RSAKeyGenerator(2048).keyID(UUID.randomUUID().toString()).generate());
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    public static ClusterSigner ec() {
        try {
            return new ClusterSigner(
                    new ECKeyGenerator(Curve.P_256).keyID(UUID.randomUUID().toString()).generate());
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String apply(String path) {
        reads++;
        if (!reachable) {
            throw new IllegalStateException("connection refused");
        }
        return switch (path) {
            case "/openid/v1/jwks" -> new JWKSet(key.toPublicJWK()).toString();
            case "/.well-known/openid-configuration" -> "{\"issuer\": \"" + ISSUER + "\"}";
            default -> throw new IllegalArgumentException(path);
        };
    }

    /** The claims of a token bound to a pod, as Kubernetes 1.32 and later write them. */
    public static JWTClaimsSet.Builder claims(UUID pod, Instant now) {
        return new JWTClaimsSet.Builder()
                .issuer(ISSUER)
                .audience(List.of("gpusharing-timekeeper"))
                .subject("system:serviceaccount:team-a:default")
                .issueTime(Date.from(now))
                .notBeforeTime(Date.from(now))
                .expirationTime(Date.from(now.plus(Duration.ofHours(1))))
                .claim(
                        "kubernetes.io",
                        Map.of(
                                "namespace", "team-a",
                                "serviceaccount", Map.of("name", "default", "uid", "sa-uid"),
                                "pod", Map.of("name", "train", "uid", pod.toString()),
                                "node", Map.of("name", "n1", "uid", "node-uid")));
    }

    public String sign(JWTClaimsSet claims) {
        try {
            boolean rsa = key instanceof RSAKey;
            JWSSigner signer = rsa ? new RSASSASigner((RSAKey) key) : new ECDSASigner((ECKey) key);
            JWSAlgorithm algorithm = rsa ? JWSAlgorithm.RS256 : JWSAlgorithm.ES256;
            SignedJWT token =
                    new SignedJWT(
                            new JWSHeader.Builder(algorithm).keyID(key.getKeyID()).build(), claims);
            token.sign(signer);
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }
}
