package io.gpusharing.timekeeper.usage.reporter;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import io.gpusharing.Names;
import io.gpusharing.timekeeper.usage.reporter.ClusterKeys.KeysUnavailableException;
import io.gpusharing.web.PerSecond;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtClaimNames;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtException;
import org.springframework.security.oauth2.jwt.JwtTimestampValidator;
import org.springframework.security.oauth2.jwt.JwtValidationException;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.InvalidBearerTokenException;

/**
 * Who stands behind a token: a pod, by the word of the cluster that signed it. Tokens are bound to
 * one pod and to our audience; a token without either is none of ours.
 *
 * <p>Signatures are checked here against the cluster's keys. Where those cannot be read, the API
 * server is asked about each token (TokenReview). What was found holds until the token expires, ten
 * minutes at most; whether the pod still lives is asked of our own watch each time.
 */
public final class ReporterTokens {

    private static final Duration REMEMBERED = Duration.ofMinutes(10);
    private static final Duration SKEW = Duration.ofSeconds(30);
    private static final Duration OUTAGE = Duration.ofHours(12);
    private static final int MAX_TOKENS = 100_000;

    private static final JwtClaimValidator<List<String>> AUDIENCE =
            new JwtClaimValidator<>(
                    JwtClaimNames.AUD,
                    audiences -> audiences != null && audiences.contains(Names.REPORT_AUDIENCE));

    /** Where the cluster's keys cannot be read, anybody's token would have the API server asked. */
    private static final int REVIEWS_PER_SECOND = 100;

    private final NimbusJwtDecoder decoder;
    private final PerSecond reviewsPerSecond;
    private final PerSecond repeatedPerSecond;
    private final ClusterKeys keys;
    private final Function<String, Optional<Reporter>> reviews;
    private final Clock clock;
    private final Cache<String, Known> known =
            Caffeine.newBuilder().maximumSize(MAX_TOKENS).expireAfterWrite(REMEMBERED).build();

    private record Known(Reporter reporter, Instant expires) {}

    /**
     * @param reviews asks the API server who it is, if the token is genuine, of our audience and
     *     bound to a pod; throws if it cannot be asked
     */
    public ReporterTokens(
            ClusterKeys keys, Function<String, Optional<Reporter>> reviews, Clock clock) {
        this.keys = keys;
        this.reviews = reviews;
        this.reviewsPerSecond = new PerSecond(REVIEWS_PER_SECOND, clock);
        this.repeatedPerSecond = new PerSecond(REVIEWS_PER_SECOND, clock);
        this.clock = clock;
        JWKSource<SecurityContext> source =
                JWKSourceBuilder.create(keys)
                        // An unknown key is fetched, but not for every forged token.
                        .rateLimited(Duration.ofSeconds(10).toMillis())
                        .outageTolerant(OUTAGE.toMillis())
                        .build();
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSKeySelector(
                new JWSVerificationKeySelector<>(
                        Set.of(JWSAlgorithm.RS256, JWSAlgorithm.ES256), source));
        // Expiry is judged below, by our clock.
        processor.setJWTClaimsSetVerifier((claims, context) -> {});
        var timestamps = new JwtTimestampValidator(SKEW);
        timestamps.setClock(clock);
        decoder = new NimbusJwtDecoder(processor);
        decoder.setJwtValidator(
                new DelegatingOAuth2TokenValidator<>(List.of(timestamps, keys, AUDIENCE)));
    }

    /**
     * @throws InvalidBearerTokenException if it is no token of ours
     * @throws AuthenticationServiceException if neither keys nor reviews can be had: nobody can be
     *     authenticated
     */
    public Reporter reporter(String token) {
        Known before = known.getIfPresent(token);
        if (before != null && clock.instant().isBefore(before.expires())) {
            return before.reporter();
        }
        Known found = find(token);
        known.put(token, found);
        return found.reporter();
    }

    private Known find(String token) {
        try {
            Jwt jwt = decoder.decode(token);
            Instant expires = jwt.getExpiresAt();
            if (expires == null) {
                throw new InvalidBearerTokenException("the token never expires");
            }
            return new Known(reporter(jwt), expires);
        } catch (JwtValidationException e) {
            throw new InvalidBearerTokenException(String.valueOf(e.getMessage()), e);
        } catch (BadJwtException e) {
            throw new InvalidBearerTokenException("the token is not signed by this cluster", e);
        } catch (KeysUnavailableException e) {
            return reviewed(token, e);
        } catch (JwtException e) {
            if (e.getCause() instanceof RateLimitReachedException && keys.areRead()) {
                // Who makes up keys would have the API server asked without end.
                throw new AuthenticationServiceException(
                        "keys of which nothing is known are asked for every ten seconds", e);
            }
            if (e.getCause() instanceof KeySourceException) {
                return reviewed(token, e);
            }
            throw new InvalidBearerTokenException("the token cannot be read", e);
        }
    }

    /** Who makes up tokens keeps nobody from being asked about who was genuine a minute ago. */
    private Known reviewed(String token, RuntimeException why) {
        boolean isRepeated = known.getIfPresent(token) != null;
        if (!(isRepeated ? repeatedPerSecond : reviewsPerSecond).mayBegin()) {
            throw new AuthenticationServiceException(
                    "the API server is asked about too many tokens at this moment", why);
        }
        try {
            Reporter reporter =
                    reviews.apply(token)
                            .orElseThrow(() ->
                                    new InvalidBearerTokenException(
                                            "the API server does not know the token"));
            // The review says that it is valid now, not for how long; the shortest that there is.
            return new Known(reporter, clock.instant().plus(Duration.ofMinutes(1)));
        } catch (InvalidBearerTokenException e) {
            known.invalidate(token);
            throw e;
        } catch (RuntimeException e) {
            e.addSuppressed(why);
            throw new AuthenticationServiceException("tokens cannot be verified now", e);
        }
    }

    /** The claims that kube-apiserver puts into bound tokens, under {@code kubernetes.io}. */
    private static Reporter reporter(Jwt jwt) {
        Map<String, Object> claims = jwt.getClaimAsMap("kubernetes.io");
        String namespace = text(claims, "namespace");
        String account = text(part(claims, "serviceaccount"), "name");
        String pod = text(part(claims, "pod"), "name");
        UUID uid = uuid(text(part(claims, "pod"), "uid"));
        String node = text(part(claims, "node"), "name");
        if (namespace == null || account == null || pod == null || uid == null) {
            throw new InvalidBearerTokenException("the token is not bound to a pod");
        }
        return new Reporter(namespace + "/" + account, namespace, pod, uid, node);
    }

    private static @Nullable Map<?, ?> part(@Nullable Map<?, ?> map, String key) {
        return map != null && map.get(key) instanceof Map<?, ?> part ? part : null;
    }

    private static @Nullable String text(@Nullable Map<?, ?> map, String key) {
        return map != null && map.get(key) instanceof String text ? text : null;
    }

    private static @Nullable UUID uuid(@Nullable String text) {
        try {
            return text == null ? null : UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
