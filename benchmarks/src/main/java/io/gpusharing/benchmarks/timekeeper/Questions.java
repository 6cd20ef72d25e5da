package io.gpusharing.benchmarks.timekeeper;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;

/** What people ask the REST API, one question after the other over one kept TLS connection. */
final class Questions {

    private static final Pattern NEXT = Pattern.compile("<([^>]+)>; rel=\"next\"");

    private final HttpClient http;
    private final URI timekeeper;

    Questions(SSLContext tls, int port) {
        this.http =
                HttpClient.newBuilder()
                        .sslContext(tls)
                        .version(HttpClient.Version.HTTP_1_1)
                        .build();
        this.timekeeper = URI.create("https://127.0.0.1:" + port);
    }

    /**
     * An answer.
     *
     * @param next path of the page behind it; empty for the last
     */
    record Answer(String body, String next) {}

    /**
     * @throws IllegalStateException if the answer is not 200
     */
    Answer ask(String path) throws IOException, InterruptedException {
        HttpResponse<String> response =
                http.send(
                        HttpRequest.newBuilder(timekeeper.resolve(path))
                                .header("Authorization", "Bearer somebody")
                                .timeout(Duration.ofMinutes(1))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IllegalStateException(path + ": " + response.statusCode() + response.body());
        }
        Matcher next = NEXT.matcher(response.headers().firstValue("Link").orElse(""));
        return new Answer(response.body(), next.find() ? next.group(1) : "");
    }
}
