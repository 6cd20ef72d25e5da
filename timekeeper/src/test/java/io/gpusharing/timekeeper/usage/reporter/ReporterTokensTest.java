package io.gpusharing.timekeeper.usage.reporter;

import static io.gpusharing.timekeeper.usage.intake.ClusterSigner.claims;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatusBuilder;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.usage.intake.ClusterSigner;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.oauth2.server.resource.InvalidBearerTokenException;

class ReporterTokensTest {

    private static final Instant NOON = Instant.parse("2026-03-02T12:00:00Z");

    private final UUID pod = UUID.randomUUID();
    // An RSA key takes seconds to make where code is not optimised.
    private final ClusterSigner cluster = ClusterSigner.ec();
    private int reviews;
    private Optional<Reporter> reviewed = Optional.empty();
    private final ReporterTokens tokens = tokens(cluster, NOON);

    private ReporterTokens tokens(ClusterSigner signer, Instant now) {
        return new ReporterTokens(
                new ClusterKeys(signer),
                token -> {
                    reviews++;
                    return reviewed;
                },
                Clock.fixed(now, ZoneOffset.UTC));
    }

    @Test
    void findsThePodOfATokenSignedWithRsa() {
        ClusterSigner rsa = ClusterSigner.rsa();

        assertThat(tokens(rsa, NOON).reporter(rsa.sign(claims(pod, NOON).build())))
                .isEqualTo(new Reporter("team-a/default", "team-a", "train", pod, "n1"));
    }

    @Test
    void findsThePodOfATokenSignedOnAnEllipticCurve() {
        assertThat(tokens.reporter(cluster.sign(claims(pod, NOON).build())).pod()).isEqualTo(pod);
    }

    @Test
    void verifiesATokenOnce() {
        String token = cluster.sign(claims(pod, NOON).build());
        tokens.reporter(token);
        int reads = cluster.reads;

        tokens.reporter(token);

        assertThat(cluster.reads).isEqualTo(reads);
    }

    @Test
    void verifiedTokensRemainValidWhileTheApiServerIsAway() {
        String token = cluster.sign(claims(pod, NOON).build());
        tokens.reporter(token);
        cluster.reachable = false;

        assertThat(tokens.reporter(token).pod()).isEqualTo(pod);
        // The keys are kept, too: a new token needs no API server either.
        assertThat(tokens.reporter(cluster.sign(claims(UUID.randomUUID(), NOON).build())))
                .isNotNull();
        assertThat(reviews).isZero();
    }

    /** Anybody can make up tokens, and names of keys. */
    @Test
    void theApiServerIsNotAskedAboutTokensOfKeysThatItDoesNotHave() {
        tokens.reporter(cluster.sign(claims(pod, NOON).build()));

        for (int i = 0; i < 20; i++) {
            String forged = ClusterSigner.ec().sign(claims(pod, NOON).build());
            assertThatThrownBy(() -> tokens.reporter(forged))
                    .isInstanceOf(AuthenticationException.class);
        }

        assertThat(reviews).isZero();
    }

    @Test
    void whereTheKeysCannotBeReadTheApiServerIsNotAskedWithoutEnd() {
        cluster.reachable = false;

        for (int i = 0; i < 150; i++) {
            String token = cluster.sign(claims(UUID.randomUUID(), NOON).build());
            assertThatThrownBy(() -> tokens.reporter(token))
                    .isInstanceOf(AuthenticationException.class);
        }

        assertThat(reviews).isEqualTo(100);
    }

    @Nested
    class Refuses {

        private void refused(String token) {
            refused(tokens, token);
        }

        private void refused(ReporterTokens tokens, String token) {
            assertThatThrownBy(() -> tokens.reporter(token))
                    .isInstanceOf(InvalidBearerTokenException.class);
            assertThat(reviews).isZero();
        }

        @Test
        void aTokenOfAnotherCluster() {
            refused(ClusterSigner.ec().sign(claims(pod, NOON).build()));
        }

        @Test
        void aTokenOfAnotherIssuer() {
            refused(cluster.sign(claims(pod, NOON).issuer("https://elsewhere").build()));
        }

        @Test
        void aTokenForTheApiServerItself() {
            refused(
                    cluster.sign(
                            claims(pod, NOON).audience("https://kubernetes.default.svc").build()));
        }

        @Test
        void aTokenWithoutAnAudience() {
            refused(cluster.sign(claims(pod, NOON).audience((String) null).build()));
        }

        @Test
        void anExpiredToken() {
            refused(
                    cluster.sign(
                            claims(pod, NOON)
                                    .expirationTime(Date.from(NOON.minus(Duration.ofMinutes(2))))
                                    .build()));
        }

        @Test
        void aTokenThatNeverExpires() {
            refused(cluster.sign(claims(pod, NOON).expirationTime(null).build()));
        }

        @Test
        void aTokenThatIsBoundToNoPod() {
            refused(
                    cluster.sign(
                            claims(pod, NOON)
                                    .claim(
                                            "kubernetes.io",
                                            Map.of(
                                                    "namespace",
                                                    "team-a",
                                                    "serviceaccount",
                                                    Map.of("name", "default")))
                                    .build()));
        }

        @Test
        void aTokenThatIsNotSigned() {
            refused(new PlainJWT(claims(pod, NOON).build()).serialize());
        }

        @Test
        void aTokenSignedWithThePublicKeyAsASharedSecret() throws Exception {
            ClusterSigner rsa = ClusterSigner.rsa();
            SignedJWT forged =
                    new SignedJWT(
                            new JWSHeader.Builder(JWSAlgorithm.HS256)
                                    .keyID(rsa.key.getKeyID())
                                    .build(),
                            claims(pod, NOON).build());
            forged.sign(new MACSigner(((RSAKey) rsa.key).toRSAPublicKey().getEncoded()));

            refused(tokens(rsa, NOON), forged.serialize());
        }

        @Test
        void aTokenWhoseClaimsWereChanged() {
            String[] parts = cluster.sign(claims(pod, NOON).build()).split("\\.", -1);
            String[] other = cluster.sign(claims(UUID.randomUUID(), NOON).build()).split("\\.", -1);

            refused(parts[0] + "." + other[1] + "." + parts[2]);
        }

        @Test
        void nonsense() {
            refused("nonsense");
        }
    }

    @Nested
    class WithoutKeys {

        private final Reporter reporter =
                new Reporter("team-a/default", "team-a", "train", pod, "n1");

        @Test
        void asksTheApiServerAboutTheToken() {
            cluster.reachable = false;
            reviewed = Optional.of(reporter);

            assertThat(tokens.reporter(cluster.sign(claims(pod, NOON).build())))
                    .isEqualTo(reporter);
        }

        /** Anybody can make up a hundred tokens a second. */
        @Test
        void whoWasKnownAMinuteAgoIsAskedAboutBesideTokensThatAreMadeUp() {
            var clock = new SteppingClock(NOON);
            var asked = new ReporterTokens(new ClusterKeys(cluster), _ -> reviewed, clock);
            cluster.reachable = false;
            reviewed = Optional.of(reporter);
            String genuine = cluster.sign(claims(pod, NOON).build());
            asked.reporter(genuine);
            clock.pass(Duration.ofMinutes(2));
            for (int i = 0; i < 150; i++) {
                String madeUp = cluster.sign(claims(UUID.randomUUID(), NOON).build());
                if (i < 100) {
                    asked.reporter(madeUp);
                } else {
                    assertThatThrownBy(() -> asked.reporter(madeUp))
                            .isInstanceOf(AuthenticationServiceException.class);
                }
            }

            assertThat(asked.reporter(genuine)).isEqualTo(reporter);
        }

        @Test
        void refusesTokensThatTheApiServerRejects() {
            cluster.reachable = false;
            String token = cluster.sign(claims(pod, NOON).build());

            assertThatThrownBy(() -> tokens.reporter(token))
                    .isInstanceOf(InvalidBearerTokenException.class);
            assertThat(reviews).isOne();
        }

        @Test
        void saysThatNothingCanBeVerifiedWhenTheApiServerIsAway() {
            cluster.reachable = false;
            ReporterTokens lost =
                    new ReporterTokens(
                            new ClusterKeys(cluster),
                            token -> {
                                throw new IllegalStateException("connection refused");
                            },
                            Clock.fixed(NOON, ZoneOffset.UTC));
            String token = cluster.sign(claims(pod, NOON).build());

            assertThatThrownBy(() -> lost.reporter(token))
                    .isInstanceOf(AuthenticationServiceException.class);
        }
    }

    @Nested
    class AReview {

        @Test
        void namesThePod() {
            var status =
                    new TokenReviewStatusBuilder()
                            .withAuthenticated(true)
                            .withAudiences("gpusharing-timekeeper")
                            .withNewUser()
                            .withUsername("system:serviceaccount:team-a:default")
                            .addToExtra("authentication.kubernetes.io/pod-name", List.of("train"))
                            .addToExtra(
                                    "authentication.kubernetes.io/pod-uid", List.of(pod.toString()))
                            .addToExtra("authentication.kubernetes.io/node-name", List.of("n1"))
                            .endUser()
                            .build();

            assertThat(TokenReviews.reporter(status))
                    .contains(new Reporter("team-a/default", "team-a", "train", pod, "n1"));
        }

        @Test
        void forAnotherAudienceIsNoYes() {
            var status =
                    new TokenReviewStatusBuilder()
                            .withAuthenticated(true)
                            .withAudiences("https://kubernetes.default.svc")
                            .withNewUser()
                            .withUsername("system:serviceaccount:team-a:default")
                            .endUser()
                            .build();

            assertThat(TokenReviews.reporter(status)).isEmpty();
        }
    }
}
