package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.FieldsV1;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.json.JsonMapper;

/**
 * How JSON of the API server is read. It has limits of its own (3 MB a request, 10 000 nested
 * values), and what it has stored is read: with Jackson's limits, one pod with managed fields
 * nested 500 deep ends each list that it is in.
 */
public final class ApiServerJson {

    private ApiServerJson() {}

    /** A mapper to add more to; it passes over managed fields. */
    public static JsonMapper.Builder mapper() {
        return JsonMapper.builder(
                        JsonFactory.builder()
                                .streamReadConstraints(
                                        StreamReadConstraints.builder()
                                                .maxNestingDepth(Integer.MAX_VALUE)
                                                .maxNameLength(Integer.MAX_VALUE)
                                                .maxNumberLength(Integer.MAX_VALUE)
                                                .maxStringLength(Integer.MAX_VALUE)
                                                .build())
                                .build())
                .addMixIn(FieldsV1.class, Skipped.class);
    }

    /** What reads all objects whole, but for their managed fields. */
    public static ApiServerSerialization serialization() {
        return serialization(mapper().build());
    }

    /**
     * What reads objects by another mapper.
     *
     * @param mapper made of {@link #mapper()}
     */
    public static ApiServerSerialization serialization(JsonMapper mapper) {
        return new ApiServerSerialization(mapper);
    }

    @JsonDeserialize(using = SkippedFields.class)
    private interface Skipped {}

    static final class SkippedFields extends ValueDeserializer<FieldsV1> {

        @Override
        public @Nullable FieldsV1 deserialize(JsonParser parser, DeserializationContext context) {
            parser.skipChildren();
            return null;
        }
    }
}
