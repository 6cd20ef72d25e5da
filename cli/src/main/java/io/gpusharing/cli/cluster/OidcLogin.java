package io.gpusharing.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.AuthProviderConfig;
import io.fabric8.kubernetes.client.Config;
import io.gpusharing.cli.console.Failure;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A login that the kubeconfig keeps with {@code auth-provider: oidc}. Its token lasts for minutes;
 * kubectl renews it, and is asked to: the Kubernetes client that is used here fails at issuers
 * whose authority the kubeconfig does not contain, and writes {@code null} over a refresh token
 * where the issuer gives no other, which it need not.
 */
final class OidcLogin {

    /** kubectl's own. */
    private static final Duration BEFORE = Duration.ofSeconds(10);

    private final String kubectl;
    private final Clock clock;

    /**
     * @param kubectl the program
     */
    OidcLogin(String kubectl, Clock clock) {
        this.kubectl = kubectl;
        this.clock = clock;
    }

    /** The token, if the login is such a one; empty text if there is none yet. */
    static Optional<String> token(Config config) {
        AuthProviderConfig provider = config.getAuthProvider();
        return provider == null || !"oidc".equals(provider.getName())
                ? Optional.empty()
                : Optional.of(
                        Optional.ofNullable(provider.getConfig())
                                .orElseGet(Map::of)
                                .getOrDefault("id-token", ""));
    }

    /** Whether a token must be renewed. One that nobody can read is for the API server to judge. */
    boolean expired(String token) {
        if (token.isEmpty()) {
            return true;
        }
        String[] parts = token.split("\\.", -1);
        try {
            double expires =
                    new JsonMapper()
                            .readTree(new String(Base64.getUrlDecoder().decode(parts[1]), UTF_8))
                            .path("exp")
                            .asDouble(Double.MAX_VALUE);
            return clock.instant().plus(BEFORE).getEpochSecond() >= expires;
        } catch (ArrayIndexOutOfBoundsException
                | IllegalArgumentException
                | JacksonException unreadable) {
            return false;
        }
    }

    /**
     * Has kubectl renew it; the kubeconfig has the new one then.
     *
     * @param kubeconfig null for the usual ones
     * @param context null for the current one
     * @return what kubectl complains of, if anything: of what it asks once it has the token, too
     * @throws Failure if it cannot be run
     */
    String renew(@Nullable String kubeconfig, @Nullable String context) {
        var command =
                new ArrayList<>(List.of(kubectl, "get", "--raw=/version", "--request-timeout=10s"));
        if (kubeconfig != null) {
            command.add("--kubeconfig=" + kubeconfig);
        }
        if (context != null) {
            command.add("--context=" + context);
        }
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            String problem = new String(process.getErrorStream().readAllBytes(), UTF_8);
            process.waitFor();
            return problem.strip();
        } catch (IOException e) {
            throw new Failure(
                    "Your login has expired; kubectl renews it, but cannot be run (%s)"
                            .formatted(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
