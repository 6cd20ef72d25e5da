package io.gpusharing.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logins that are not simply written in the kubeconfig. */
class LoginTest {

    /** Until 2033; its text has characters of Base64 for URLs alone. */
    private static final String TOKEN =
            "e30."
                    + Base64.getUrlEncoder()
                            .withoutPadding()
                            .encodeToString(
                                    "{\"exp\": 2000000000, \"name\": \"Зоя\"}"
                                            .getBytes(StandardCharsets.UTF_8))
                    + ".x";

    @TempDir private Path folder;

    private FakeApiServer api;
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        api.has(
                FakeApiServer.BUDGETS,
                """
                metadata: {name: team-a, creationTimestamp: "2026-11-01T00:00:00Z"}
                spec: {namespaces: [team-a], gpuMinutes: "60"}
                """);
        shell = new Shell(api.url(), folder, "2026-11-21T10:00:00Z");
    }

    private void login(String user) throws IOException {
        Path kubeconfig = folder.resolve("kubeconfig");
        Files.writeString(
                kubeconfig, Files.readString(kubeconfig).replace("token: secret", user.strip()));
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void aLoginByOidcIsUsedAsItIsUntilItExpires() throws IOException {
        api.accepts(TOKEN);
        login("auth-provider: {name: oidc, config: {id-token: %s}}".formatted(TOKEN));

        assertThat(TOKEN).containsAnyOf("-", "_");
        assertThat(shell.run("budgets").out()).contains("team-a   60.000");
    }

    /** And not sent to an issuer, as the client would if it could. */
    @Test
    void oneThatTheApiServerRefusesIsSaidToBeRefused() throws IOException {
        api.accepts("another");
        login(
                "auth-provider: {name: oidc, config: {idp-issuer-url: %s, refresh-token: again, id-token: %s}}"
                        .formatted(api.url(), TOKEN));

        assertThat(shell.run("budgets").err()).contains("does not accept your login; log in again");
        assertThat(api.requests).containsOnly(FakeApiServer.BUDGETS);
    }

    @Test
    void aProgramThatTheKubeconfigNamesIsAskedForALogin() throws IOException {
        api.accepts(TOKEN);
        login(
                """
                exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: echo, args: ['{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "%s"}}']}
                """
                        .formatted(TOKEN));

        assertThat(shell.run("budgets").out()).contains("team-a   60.000");
    }
}
