package io.gpusharing.timekeeper.usage.reporter;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetRetrievalException;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.Closeable;
import java.text.ParseException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.security.oauth2.core.OAuth2Error;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2TokenValidatorResult;
import org.springframework.security.oauth2.jwt.Jwt;

/**
 * With which keys, and as whom, the cluster signs the tokens of service accounts. Both documents
 * are read through the API server with our own token: anonymous requests are answered 403, and the
 * issuer's own URL resolves nowhere on most clusters.
 */
public final class ClusterKeys
        implements JWKSetSource<SecurityContext>, OAuth2TokenValidator<Jwt>, Closeable {

    private static final String KEYS = "/openid/v1/jwks";
    private static final String DISCOVERY = "/.well-known/openid-configuration";

    private final Function<String, @Nullable String> documents;
    private volatile @Nullable String issuer;
    private volatile boolean read;

    /**
     * @param documents reads a path of the API server; throws if it cannot be read
     */
    public ClusterKeys(Function<String, @Nullable String> documents) {
        this.documents = documents;
    }

    @Override
    public JWKSet getJWKSet(
            JWKSetCacheRefreshEvaluator refresh, long now, @Nullable SecurityContext context)
            throws KeySourceException {
        try {
            JWKSet keys = JWKSet.parse(document(KEYS));
            read = true;
            return keys;
        } catch (RuntimeException | ParseException e) {
            read = false;
            throw new JWKSetRetrievalException("cannot read " + KEYS, e);
        }
    }

    /** Whether they could be read when that was tried last. */
    boolean areRead() {
        return read;
    }

    /** Whether the token names the cluster's own issuer. */
    @Override
    public OAuth2TokenValidatorResult validate(Jwt token) {
        return issuer().equals(token.getClaimAsString("iss"))
                ? OAuth2TokenValidatorResult.success()
                : OAuth2TokenValidatorResult.failure(
                        new OAuth2Error("invalid_token", "the token is of another issuer", null));
    }

    /**
     * @throws KeysUnavailableException if the API server does not answer
     */
    String issuer() {
        String known = issuer;
        if (known != null) {
            return known;
        }
        try {
            String published =
                    JSONObjectUtils.getString(JSONObjectUtils.parse(document(DISCOVERY)), "issuer");
            if (published == null) {
                throw new KeysUnavailableException(DISCOVERY + " names no issuer", null);
            }
            issuer = published;
            return published;
        } catch (ParseException e) {
            throw new KeysUnavailableException(DISCOVERY + " is no JSON", e);
        }
    }

    private String document(String path) {
        String text;
        try {
            text = documents.apply(path);
        } catch (RuntimeException e) {
            throw new KeysUnavailableException("cannot read " + path, e);
        }
        if (text == null) {
            throw new KeysUnavailableException("cannot read " + path, null);
        }
        return text;
    }

    @Override
    public void close() {}

    /** The API server did not give its keys or its issuer. */
    static final class KeysUnavailableException extends RuntimeException {
        KeysUnavailableException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }
}
