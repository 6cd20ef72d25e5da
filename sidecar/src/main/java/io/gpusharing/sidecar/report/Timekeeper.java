package io.gpusharing.sidecar.report;

import io.gpusharing.sidecar.json.Json;
import io.gpusharing.sidecar.report.Answer.Mode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The timekeeper as a meter sees it: one POST over TLS, trusting the reporting CA alone.
 *
 * <p>{@code HttpsURLConnection}, because {@code java.net.http} costs some 16 MiB more. It keeps the
 * connection between reports as long as the socket factory is the same object.
 */
public final class Timekeeper {

    private static final int LONGEST_ANSWER = 64 * 1024;
    private static final String PATH = "/api/v1/usage";

    /** The type of a problem that no later report of the same run can get over. */
    private static final String RUN_REFUSED = "urn:gpusharing:problem:run-refused";

    private final URI url;
    private final Path tokenFile;
    private volatile SSLSocketFactory tls;
    private String ca;

    /**
     * @param baseUrl must be https
     * @param ca PEM of the only certificates to trust
     * @param tokenFile read again before each report, because kubelet renews it
     * @throws GeneralSecurityException if the PEM holds no certificate
     */
    public Timekeeper(URI baseUrl, String ca, Path tokenFile) throws GeneralSecurityException {
        this.url = URI.create(baseUrl.toString().replaceAll("/+$", "") + PATH);
        this.ca = ca;
        this.tls = TrustedAuthorities.trusting(ca);
        this.tokenFile = tokenFile;
    }

    /** Trusts other certificates from the next report on. */
    public void trust(String newCa) throws GeneralSecurityException {
        if (!newCa.equals(ca)) {
            tls = TrustedAuthorities.trusting(newCa);
            ca = newCa;
        }
    }

    /** What is trusted now, as PEM. */
    public String ca() {
        return ca;
    }

    /**
     * Delivers a report.
     *
     * @param patience for connecting, and again for the answer
     */
    public Answer deliver(UsageReport report, Duration patience) {
        String token;
        try {
            token = Files.readString(tokenFile).strip();
        } catch (IOException e) {
            return new Answer.Unavailable("the token cannot be read: " + e, null);
        }
        try {
            return post(report.toJson().getBytes(StandardCharsets.UTF_8), token, patience);
        } catch (IOException e) {
            return new Answer.Unavailable(e.toString(), null);
        }
    }

    private Answer post(byte[] body, String token, Duration patience) throws IOException {
        HttpsURLConnection connection = (HttpsURLConnection) url.toURL().openConnection();
        connection.setSSLSocketFactory(tls);
        connection.setConnectTimeout((int) patience.toMillis());
        connection.setReadTimeout((int) patience.toMillis());
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(body.length);
        connection.setRequestProperty("Content-Type", "application/json");
        connection.setRequestProperty("Accept", "application/json, application/problem+json");
        connection.setRequestProperty("Authorization", "Bearer " + token);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(body);
        }
        int status = connection.getResponseCode();
        String answer = read(connection, status);
        return understand(status, answer, retryAfter(connection));
    }

    /** Drained to its end, so that the connection can be kept. */
    private static String read(HttpURLConnection connection, int status) throws IOException {
        try (InputStream in =
                status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            return in == null
                    ? ""
                    : new String(in.readNBytes(LONGEST_ANSWER), StandardCharsets.UTF_8);
        }
    }

    private static @Nullable Duration retryAfter(HttpURLConnection connection) {
        int seconds = connection.getHeaderFieldInt("Retry-After", -1);
        return seconds < 0 ? null : Duration.ofSeconds(seconds);
    }

    static Answer understand(int status, String body, @Nullable Duration retryAfter) {
        if (status == HttpURLConnection.HTTP_OK) {
            try {
                Map<?, ?> answer = Json.parseObject(body);
                Mode mode = "Heartbeat".equals(answer.get("mode")) ? Mode.HEARTBEAT : Mode.FULL;
                return answer.get("ca") instanceof String ca && !ca.isBlank()
                        ? new Answer.Taken(mode, ca)
                        : new Answer.Taken(mode, null);
            } catch (IllegalArgumentException e) {
                return new Answer.Unavailable("an answer that is not JSON: " + e, null);
            }
        }
        String reason = "HTTP " + status + " " + summary(body);
        boolean later = status >= 500 || status == 429 || status == 408;
        return later
                ? new Answer.Unavailable(reason, retryAfter)
                : new Answer.Refused(status, reason, RUN_REFUSED.equals(field(body, "type")));
    }

    private static String summary(String body) {
        String detail = field(body, "detail");
        return detail == null ? body.substring(0, Math.min(200, body.length())) : detail;
    }

    /** A field of a problem; empty where it has none, null where the body is no JSON. */
    private static @Nullable String field(String body, String name) {
        try {
            return Objects.toString(Json.parseObject(body).get(name), "");
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
