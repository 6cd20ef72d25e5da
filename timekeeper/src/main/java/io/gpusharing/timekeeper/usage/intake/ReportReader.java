package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.UsageReport.Unasked;
import io.gpusharing.timekeeper.usage.UsageReport.Unattributed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a report and says exactly what is wrong with one that is malformed. Fields that it does not
 * know are passed over, so that newer meters can report to older timekeepers.
 */
final class ReportReader {

    private static final Pattern DEVICE = Pattern.compile("\\p{Alnum}[\\w.:/-]{0,95}");
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");
    private static final int LONGEST_REASON = 256;

    private final JsonMapper json =
            JsonMapper.builder()
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build();

    /** A body that is no report; the message says what and where. */
    static final class MalformedReportException extends Exception {
        MalformedReportException(String message) {
            super(message);
        }
    }

    /**
     * @throws MalformedReportException if the body is not such an object
     */
    UsageReport read(byte[] body) throws MalformedReportException {
        JsonNode root;
        try {
            root = json.readTree(body);
        } catch (JacksonException e) {
            throw new MalformedReportException("not JSON: " + e.getOriginalMessage());
        }
        if (!root.isObject()) {
            throw new MalformedReportException("a report is a JSON object");
        }
        UUID run = uuid(root, "run");
        long sequence = count(root, "sequence");
        Meter meter = word(root, "meter", Meter.class);
        List<PodUse> pods = pods(array(root, "pods"));
        List<Unattributed> unattributed = unattributed(root.path("unattributed"));
        List<Unasked> unasked = unasked(root.path("unasked"));
        boolean ofMore = !unattributed.isEmpty() || !unasked.isEmpty();
        if (meter == Meter.Sidecar && (pods.size() != 1 || ofMore)) {
            throw new MalformedReportException(
                    "a sidecar reports exactly one pod, and nothing else");
        }
        return new UsageReport(run, sequence, meter, pods, unattributed, unasked);
    }

    private static List<PodUse> pods(JsonNode array) throws MalformedReportException {
        var pods = new ArrayList<PodUse>();
        var seen = new HashSet<UUID>();
        for (JsonNode node : array) {
            UUID uid = uuid(node, "uid");
            if (!seen.add(uid)) {
                throw new MalformedReportException("pod " + uid + " appears twice");
            }
            pods.add(new PodUse(uid, devices(array(node, "devices"))));
        }
        return pods;
    }

    private static List<DeviceUse> devices(JsonNode array) throws MalformedReportException {
        var devices = new ArrayList<DeviceUse>();
        var seen = new HashSet<String>();
        for (JsonNode node : array) {
            String uuid = device(node);
            if (!seen.add(uuid)) {
                throw new MalformedReportException("device " + uuid + " appears twice in one pod");
            }
            devices.add(
                    new DeviceUse(
                            uuid,
                            word(node, "basis", Basis.class),
                            reason(node),
                            count(node, "gpuMicroseconds"),
                            count(node, "memoryByteSeconds"),
                            count(node, "coveredMicroseconds"),
                            count(node, "uncoveredMicroseconds")));
        }
        return devices;
    }

    private static List<Unattributed> unattributed(JsonNode array) throws MalformedReportException {
        if (array.isMissingNode()) {
            return List.of();
        }
        if (!array.isArray()) {
            throw new MalformedReportException("unattributed is an array");
        }
        var devices = new ArrayList<Unattributed>();
        var seen = new HashSet<String>();
        for (JsonNode node : array) {
            String uuid = device(node);
            if (!seen.add(uuid)) {
                throw new MalformedReportException("device " + uuid + " is unattributed twice");
            }
            devices.add(new Unattributed(uuid, count(node, "gpuMicroseconds")));
        }
        return devices;
    }

    private static List<Unasked> unasked(JsonNode array) throws MalformedReportException {
        if (array.isMissingNode()) {
            return List.of();
        }
        if (!array.isArray()) {
            throw new MalformedReportException("unasked is an array");
        }
        var pods = new ArrayList<Unasked>();
        for (JsonNode node : array) {
            pods.add(new Unasked(uuid(node, "uid"), name(node, "namespace"), name(node, "pod")));
        }
        return pods;
    }

    private static String name(JsonNode node, String field) throws MalformedReportException {
        String text = text(node, field);
        if (!NAME.matcher(text).matches()) {
            throw new MalformedReportException(field + " is no name of Kubernetes");
        }
        return text;
    }

    private static JsonNode array(JsonNode node, String field) throws MalformedReportException {
        JsonNode array = node.path(field);
        if (!array.isArray()) {
            throw new MalformedReportException(field + " is missing or no array");
        }
        return array;
    }

    private static UUID uuid(JsonNode node, String field) throws MalformedReportException {
        String text = text(node, field);
        try {
            UUID uuid = UUID.fromString(text);
            // UUID.fromString takes 1-1-1-1-1, too.
            if (text.length() == 36) {
                return uuid;
            }
        } catch (IllegalArgumentException e) {
            // Said below, with the field's name.
        }
        throw new MalformedReportException(field + " is no UUID");
    }

    private static String device(JsonNode node) throws MalformedReportException {
        String text = text(node, "uuid");
        if (!DEVICE.matcher(text).matches()) {
            throw new MalformedReportException("uuid is no name of a device");
        }
        return text;
    }

    private static String reason(JsonNode node) throws MalformedReportException {
        String text = node.path("basisReason").asString("");
        if (text.length() > LONGEST_REASON || CONTROL.matcher(text).find()) {
            throw new MalformedReportException(
                    "basisReason is longer than %d characters, or has control characters"
                            .formatted(LONGEST_REASON));
        }
        return text;
    }

    private static String text(JsonNode node, String field) throws MalformedReportException {
        JsonNode value = node.path(field);
        if (!value.isString()) {
            throw new MalformedReportException(field + " is missing or no string");
        }
        return value.asString();
    }

    private static long count(JsonNode node, String field) throws MalformedReportException {
        JsonNode value = node.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.asLong() < 0) {
            throw new MalformedReportException(
                    field + " is missing or no whole number from 0 to " + Long.MAX_VALUE);
        }
        return value.asLong();
    }

    private static <E extends Enum<E>> E word(JsonNode node, String field, Class<E> words)
            throws MalformedReportException {
        String text = text(node, field);
        for (E word : words.getEnumConstants()) {
            if (word.name().equals(text)) {
                return word;
            }
        }
        throw new MalformedReportException(
                "%s is one of %s".formatted(field, List.of(words.getEnumConstants())));
    }
}
