package io.gpusharing.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.cli.console.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OidcLoginTest {

    private static final Clock NOW = Clock.fixed(Instant.ofEpochSecond(1_000_000), ZoneOffset.UTC);

    @TempDir private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    {"exp": 1000011}                       | false
                    {"exp": 1000010}                       | true
                    {"exp": 999000.5}                      | true
                    {"exp": 9999999999}                    | false
                    {"exp": 1000011, "name": "Зоя ~~~ ???"} | false
                    {}                                     | false
                    """)
    void aTokenMustBeRenewedTenSecondsBeforeItExpires(String claims, boolean expired) {
        String token =
                "e30."
                        + Base64.getUrlEncoder()
                                .withoutPadding()
                                .encodeToString(claims.getBytes(StandardCharsets.UTF_8))
                        + ".x";

        assertThat(login("kubectl").expired(token)).isEqualTo(expired);
    }

    @ParameterizedTest
    @CsvSource({"'', true", "opaque, false", "a.b.c, false", "..., false"})
    void oneThatIsNoneIsRenewedIfItIsEmpty(String token, boolean expired) {
        assertThat(login("kubectl").expired(token)).isEqualTo(expired);
    }

    @Test
    void kubectlRenewsThatOfTheContext() throws IOException {
        kubectl("echo \"$@\" >'%s'".formatted(folder.resolve("asked")));

        login(folder.resolve("kubectl").toString()).renew("/home/zoe/config", "ours");

        assertThat(folder.resolve("asked"))
                .hasContent(
                        "get --raw=/version --request-timeout=10s --kubeconfig=/home/zoe/config --context=ours");
    }

    @Test
    void whatKubectlComplainsOfIsKnown() throws IOException {
        kubectl("echo 'Unable to connect to the server: failed to refresh token' >&2; exit 1");

        assertThat(login(folder.resolve("kubectl").toString()).renew(null, null))
                .isEqualTo("Unable to connect to the server: failed to refresh token");
    }

    @Test
    void withoutKubectlNothingIsRenewed() {
        assertThatThrownBy(() -> login("/nowhere/kubectl").renew(null, null))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("kubectl renews it, but cannot be run");
    }

    private static OidcLogin login(String kubectl) {
        return new OidcLogin(kubectl, NOW);
    }

    private void kubectl(String script) throws IOException {
        Path program = folder.resolve("kubectl");
        Files.writeString(program, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }
}
