package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListMeta;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.InputStream;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.ObjectReader;

/** Reads and writes objects of the API server; lists also one object at a time. */
public final class ApiServerSerialization extends KubernetesSerialization {

    /** What {@link #configureMapper} has made, which the superclass keeps for itself. */
    private @Nullable ObjectMapper configured;

    ApiServerSerialization(ObjectMapper mapper) {
        super(mapper, true);
    }

    @Override
    protected ObjectMapper configureMapper(ObjectMapper mapper) {
        ObjectMapper made = super.configureMapper(mapper);
        configured = made;
        return made;
    }

    /**
     * Reads a list while it comes in.
     *
     * @param each is handed each object; nothing of it is kept here
     * @return the list's own metadata
     * @throws JacksonException if an object is not of this kind
     * @throws KubernetesClientException if it is no list, which is not an empty one
     */
    <T extends HasMetadata> ListMeta forEach(InputStream list, Class<T> kind, Consumer<T> each) {
        // What follows an object is the next one, which may be long in coming.
        ObjectReader reader =
                Objects.requireNonNull(configured)
                        .reader()
                        .without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        ObjectReader objects = reader.forType(kind);
        var metadata = new ListMeta();
        boolean items = false;
        try (JsonParser parser = reader.createParser(list)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                JsonToken value = parser.nextToken();
                if (name.equals("metadata")) {
                    metadata = reader.forType(ListMeta.class).readValue(parser);
                } else if (name.equals("items") && value == JsonToken.START_ARRAY) {
                    while (parser.nextToken() != JsonToken.END_ARRAY) {
                        each.accept(objects.readValue(parser));
                    }
                    items = true;
                } else {
                    parser.skipChildren();
                }
            }
        }
        if (!items || metadata.getResourceVersion() == null) {
            throw new KubernetesClientException("The API server's answer is no list");
        }
        return metadata;
    }
}
