package io.gpusharing.timekeeper.explanation;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.wire.ExplanationQuestion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.function.Function;
import tools.jackson.databind.json.JsonMapper;

/** A scheduler, over TLS, that answers what a test says and remembers what it was asked. */
public final class FakeScheduler implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final HttpsServer server;
    private final CertificateAuthority authority;
    private volatile Function<ExplanationQuestion, Answer> answers;

    /** What it was asked. */
    public final List<ExplanationQuestion> questions = new CopyOnWriteArrayList<>();

    /** By which tokens. */
    final List<String> tokens = new CopyOnWriteArrayList<>();

    /** What it answers. */
    public record Answer(int status, String type, String body) {

        /** An explanation as JSON. */
        public static Answer explained(String json) {
            return new Answer(200, "application/json", json);
        }

        /** What the person who asks is to read. */
        public static Answer problem(int status, String detail) {
            return new Answer(
                    status,
                    "application/problem+json",
                    "{\"status\":%d,\"detail\":\"%s\"}".formatted(status, detail));
        }

        /** What the timekeeper did wrong. */
        public static Answer text(int status, String text) {
            return new Answer(status, "text/plain;charset=utf-8", text);
        }
    }

    /** Starts it on a free port of the loopback. */
    public FakeScheduler(Function<ExplanationQuestion, Answer> answers) {
        Instant now = Instant.now();
        this.answers = answers;
        this.authority = CertificateAuthority.create("scheduler", now, Duration.ofDays(1));
        try {
            server =
                    HttpsServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setHttpsConfigurator(
                new HttpsConfigurator(
                        ServingCertificate.bundle(
                                        authority.issue(
                                                List.of("127.0.0.1"), now, Duration.ofDays(1)))
                                .createSslContext()));
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/explanations", this::answer);
        server.start();
    }

    /** From now on it answers otherwise. */
    public void answers(Function<ExplanationQuestion, Answer> next) {
        answers = next;
    }

    /** Its address. */
    public URI url() {
        return URI.create("https://127.0.0.1:" + server.getAddress().getPort());
    }

    /** By which its certificate is known, PEM. */
    public String authority() {
        return Pem.of(authority.certificate());
    }

    private void answer(HttpExchange exchange) throws IOException {
        tokens.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
        var question =
                JSON.readValue(exchange.getRequestBody().readAllBytes(), ExplanationQuestion.class);
        questions.add(question);
        Answer answer = answers.apply(question);
        byte[] body = answer.body().getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", answer.type());
        exchange.sendResponseHeaders(answer.status(), body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
