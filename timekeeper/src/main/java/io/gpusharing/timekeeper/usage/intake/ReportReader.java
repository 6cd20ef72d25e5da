package io.gpusharing.timekeeper.usage.intake;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.UsageReport.Unattributed;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.Validation;
import jakarta.validation.Validator;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.hibernate.validator.HibernateValidator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.exc.InvalidNullException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/**
 * Reads a report and says exactly what is wrong with one that is malformed. Fields that it does not
 * know are passed over, so that newer meters can report to older timekeepers.
 */
final class ReportReader {

    private static final ObjectReader JSON =
            JsonMapper.builder()
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                    .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .changeDefaultNullHandling(
                            nulls -> JsonSetter.Value.construct(Nulls.FAIL, Nulls.FAIL))
                    .withCoercionConfigDefaults(coercions -> {
                        for (CoercionInputShape shape : CoercionInputShape.values()) {
                            coercions.setCoercion(shape, CoercionAction.Fail);
                        }
                    })
                    .addModule(
                            new SimpleModule()
                                    .addDeserializer(
                                            UUID.class, exactly(UUID.class, UUID::fromString))
                                    .addDeserializer(
                                            Meter.class, exactly(Meter.class, Meter::valueOf))
                                    .addDeserializer(
                                            Basis.class, exactly(Basis.class, Basis::valueOf)))
                    .build()
                    .readerFor(UsageReport.class);

    /** Stops at the first violation: a tenant's report may have thousands. */
    private static final Validator VALIDATOR =
            Validation.byProvider(HibernateValidator.class)
                    .configure()
                    .failFast(true)
                    .buildValidatorFactory()
                    .getValidator();

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
        UsageReport report = parse(body);
        for (ConstraintViolation<UsageReport> it : VALIDATOR.validate(report)) {
            throw new MalformedReportException(it.getPropertyPath() + " " + it.getMessage());
        }
        unique("pod", report.pods(), PodUse::uid);
        for (PodUse pod : report.pods()) {
            unique("device of a pod", pod.devices(), DeviceUse::uuid);
        }
        unique("unattributed device", report.unattributed(), Unattributed::uuid);
        boolean ofOnePod =
                report.pods().size() == 1
                        && report.unattributed().isEmpty()
                        && report.unasked().isEmpty()
                        && report.exceeded().isEmpty()
                        && report.running() == null;
        if (report.meter() == Meter.Sidecar && !ofOnePod) {
            throw new MalformedReportException(
                    "a sidecar reports exactly one pod, and nothing else");
        }
        return report;
    }

    private static UsageReport parse(byte[] body) throws MalformedReportException {
        try {
            UsageReport report = JSON.readValue(body);
            if (report != null) {
                return report;
            }
        } catch (MismatchedInputException e) {
            throw new MalformedReportException(field(e) + " " + rule(e, e.getTargetType()));
        } catch (InputCoercionException e) {
            throw new MalformedReportException(field(e) + " " + rule(e, e.getTargetType()));
        } catch (JacksonException e) {
            throw new MalformedReportException("not JSON: " + e.getOriginalMessage());
        }
        throw new MalformedReportException("a report is a JSON object");
    }

    /** Jackson trims texts, takes a UUID in Base64 and a word by its number, too. */
    private static <T> ValueDeserializer<T> exactly(Class<T> type, Function<String, T> parse) {
        return new StdScalarDeserializer<T>(type) {
            @Override
            public T deserialize(JsonParser json, DeserializationContext context) {
                String text = json.getString();
                try {
                    T value = parse.apply(json.hasToken(JsonToken.VALUE_STRING) ? text : "");
                    if (value.toString().equalsIgnoreCase(text)) {
                        return value;
                    }
                } catch (IllegalArgumentException e) {
                    // Said below, for both.
                }
                throw context.weirdStringException(text, type, "not exactly that");
            }
        };
    }

    private static <T> void unique(String what, List<T> items, Function<T, Object> key)
            throws MalformedReportException {
        var seen = new HashSet<>();
        for (T item : items) {
            if (!seen.add(key.apply(item))) {
                throw new MalformedReportException(
                        "%s %s appears twice".formatted(what, key.apply(item)));
            }
        }
    }

    /** As in {@code pods[0].uid}. */
    private static String field(JacksonException e) {
        String path =
                e.getPath().stream()
                        .map(it ->
                                it.getPropertyName() == null
                                        ? "[" + it.getIndex() + "]"
                                        : "." + it.getPropertyName())
                        .collect(Collectors.joining());
        return path.isEmpty() ? "a report" : path.substring(1);
    }

    private static String rule(JacksonException e, @Nullable Class<?> type) {
        if (e instanceof InvalidNullException || type == null) {
            return "is missing";
        }
        if (type.isEnum()) {
            return "is one of " + List.of(type.getEnumConstants());
        }
        if (type == UUID.class) {
            return "is no UUID";
        }
        if (type == long.class) {
            return "is missing or no whole number from 0 to " + Long.MAX_VALUE;
        }
        return type == String.class
                ? "is no string"
                : List.class.isAssignableFrom(type) ? "is no array" : "is no JSON object";
    }
}
