package io.gpusharing.webhook.tls;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The certificate that we serve, from either source. */
public interface Certificates {

    /** What is still missing before API servers can reach us; null if nothing is. */
    @Nullable String missing();

    /** What API servers trust, PEM; null before it is known. */
    @Nullable String trustedBundle();

    /** The name by which our certificate is checked. */
    String serverName();

    /** When the certificate that is served expires; long ago if there is none. */
    Instant expiresAt();
}
