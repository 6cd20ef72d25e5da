package io.gpusharing.sidecar;

import java.net.URI;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A meter's environment variables.
 *
 * @param timekeeper {@code GPUSHARING_TIMEKEEPER_URL}: base URL, https
 * @param ca {@code GPUSHARING_CA}: PEM of the reporting CA, the only trust anchor
 * @param tokenFile {@code GPUSHARING_TOKEN_FILE}, by default where the injected volume is mounted
 * @param namespace {@code GPUSHARING_NAMESPACE}: for log lines
 * @param pod {@code GPUSHARING_POD}: for log lines
 * @param podUid {@code GPUSHARING_POD_UID}: must equal the token's; a node agent needs none
 * @param node {@code GPUSHARING_NODE}: for log lines
 * @param stateDirectory {@code GPUSHARING_STATE_DIR}: counters that outlive a restart
 * @param nvmlLibrary {@code GPUSHARING_NVML_LIBRARY}: the exact library to open, or null to search
 * @param reportPeriod {@code GPUSHARING_REPORT_PERIOD}: ISO-8601, 1 second to 1 hour
 * @param request {@code GPUSHARING_REQUEST}: what admission stamped as the pod's request; lets the
 *     meter know that a GPU is the pod's alone
 */
record Settings(
        URI timekeeper,
        String ca,
        Path tokenFile,
        String namespace,
        String pod,
        String podUid,
        String node,
        Path stateDirectory,
        @Nullable String nvmlLibrary,
        Duration reportPeriod,
        String request) {

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofHours(1);

    /**
     * Reads the environment.
     *
     * @throws BadSettings with everything that is wrong at once
     */
    static Settings from(Map<String, String> environment, boolean agent) throws BadSettings {
        List<String> problems = new ArrayList<>();
        URI url = url(required(environment, "GPUSHARING_TIMEKEEPER_URL", problems), problems);
        String ca = required(environment, "GPUSHARING_CA", problems);
        String uid = agent ? "" : required(environment, "GPUSHARING_POD_UID", problems);
        Duration period = period(environment.get("GPUSHARING_REPORT_PERIOD"), problems);
        if (!problems.isEmpty()) {
            throw new BadSettings(problems);
        }
        return new Settings(
                url,
                ca,
                Path.of(
                        environment.getOrDefault(
                                "GPUSHARING_TOKEN_FILE", "/var/run/secrets/gpusharing.io/token")),
                environment.getOrDefault("GPUSHARING_NAMESPACE", ""),
                environment.getOrDefault("GPUSHARING_POD", ""),
                uid,
                environment.getOrDefault("GPUSHARING_NODE", ""),
                Path.of(environment.getOrDefault("GPUSHARING_STATE_DIR", "/var/run/gpusharing")),
                blankToNull(environment.get("GPUSHARING_NVML_LIBRARY")),
                period,
                environment.getOrDefault("GPUSHARING_REQUEST", ""));
    }

    private static String required(
            Map<String, String> environment, String name, List<String> problems) {
        String value = environment.getOrDefault(name, "");
        if (value.isBlank()) {
            problems.add(
                    name
                            + " is not set; the webhook sets it for sidecars, the chart for node agents");
        }
        return value;
    }

    private static URI url(String text, List<String> problems) {
        try {
            URI url = URI.create(text);
            if (!text.isBlank() && !"https".equals(url.getScheme())) {
                problems.add("GPUSHARING_TIMEKEEPER_URL is " + text + "; it must begin https://");
            }
            return url;
        } catch (IllegalArgumentException e) {
            problems.add("GPUSHARING_TIMEKEEPER_URL is not a URL: " + text);
            return URI.create("");
        }
    }

    private static Duration period(@Nullable String text, List<String> problems) {
        try {
            Duration period = Duration.parse(text == null || text.isBlank() ? "PT10S" : text);
            if (period.compareTo(SHORTEST) < 0 || period.compareTo(LONGEST) > 0) {
                problems.add("GPUSHARING_REPORT_PERIOD is " + text + "; use PT1S to PT1H");
            }
            return period;
        } catch (DateTimeException e) {
            problems.add("GPUSHARING_REPORT_PERIOD is " + text + "; use for instance PT10S");
            return SHORTEST;
        }
    }

    private static @Nullable String blankToNull(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }

    /** The environment cannot be used; the message names every problem. */
    static final class BadSettings extends Exception {

        BadSettings(List<String> problems) {
            super(String.join("; ", problems));
        }
    }
}
