package io.gpusharing.timekeeper.usage.reporter;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AbstractAuthenticationToken;

/** A request whose sender is known. */
public final class ReporterAuthentication extends AbstractAuthenticationToken {

    private final Reporter reporter;

    ReporterAuthentication(Reporter reporter) {
        super(List.of());
        this.reporter = reporter;
        setAuthenticated(true);
    }

    @Override
    public Reporter getPrincipal() {
        return reporter;
    }

    @Override
    public @Nullable Object getCredentials() {
        return null;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ReporterAuthentication it && reporter.equals(it.reporter);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(reporter);
    }
}
