package io.gpusharing.benchmarks.timekeeper;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Base64;

/** Signs pod-bound tokens as an API server does (ES256), with a key made for this run. */
final class Tokens {

    static final String ISSUER = "https://kubernetes.default.svc.cluster.local";

    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private final KeyPair key;

    Tokens() {
        try {
            var generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            key = generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    String jwks() {
        var point = ((ECPublicKey) key.getPublic()).getW();
        return "{\"keys\":[{\"kty\":\"EC\",\"use\":\"sig\",\"alg\":\"ES256\",\"kid\":\"bench\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}]}"
                .formatted(coordinate(point.getAffineX()), coordinate(point.getAffineY()));
    }

    /** The token of a pod's sidecar, valid for an hour and a half. */
    String ofSidecar(MeteredPod pod) {
        return token(
                pod.namespace(),
                "default",
                "train-" + pod.number(),
                pod.uid().toString(),
                pod.node());
    }

    /** The token of a node's agent. */
    String ofAgent(int node) {
        return token(
                "gpusharing-system",
                "gpusharing-node-agent",
                "agent-" + node,
                agent(node).toString(),
                "node-" + node);
    }

    static java.util.UUID agent(int node) {
        return new java.util.UUID(0x4000L, 0x9000_0000_0000_0000L | node);
    }

    private String token(String namespace, String account, String pod, String uid, String node) {
        long now = Instant.now().getEpochSecond();
        String claims =
                """
                {"iss":"%s","aud":["gpusharing-timekeeper"],"sub":"system:serviceaccount:%s:%s","iat":%d,"nbf":%4$d,"exp":%d,"kubernetes.io":{"namespace":"%2$s","serviceaccount":{"name":"%3$s","uid":"u"},"pod":{"name":"%s","uid":"%s"},"node":{"name":"%s","uid":"n"}}}\
                """
                        .formatted(ISSUER, namespace, account, now, now + 5400, pod, uid, node);
        String signed =
                encode("{\"alg\":\"ES256\",\"kid\":\"bench\",\"typ\":\"JWT\"}")
                        + "."
                        + encode(claims);
        try {
            var signature = Signature.getInstance("SHA256withECDSAinP1363Format");
            signature.initSign(key.getPrivate());
            signature.update(signed.getBytes(StandardCharsets.US_ASCII));
            return signed + "." + BASE64.encodeToString(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String encode(String text) {
        return BASE64.encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String coordinate(BigInteger number) {
        byte[] bytes = number.toByteArray();
        byte[] fixed = new byte[32];
        int length = Math.min(32, bytes.length);
        System.arraycopy(bytes, bytes.length - length, fixed, 32 - length, length);
        return BASE64.encodeToString(fixed);
    }
}
