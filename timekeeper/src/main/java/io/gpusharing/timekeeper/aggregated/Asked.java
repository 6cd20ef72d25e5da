package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A question that is put by creating an object, like an access review: it is answered and stored
 * nowhere. The status that it may have is not looked at.
 */
@JsonIgnoreProperties("status")
record Asked<S>(
        @Nullable String apiVersion,
        @Nullable String kind,
        @Nullable JsonNode metadata,
        @Nullable S spec) {

    /** As strict as the REST address: half a GPU is not read as none. */
    private static final JsonMapper JSON =
            JsonMapper.builder()
                    .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build();

    /** It is kept until the answer is written, and takes many times its size as a tree. */
    private static final int MOST_METADATA = 4 * 1024;

    /** The question with its answer. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Answered(
            String apiVersion,
            String kind,
            @Nullable JsonNode metadata,
            Object spec,
            Object status) {}

    /**
     * Reads it. What cannot be read is said in the words of everywhere else.
     *
     * @param spec what is asked
     */
    static <S> Asked<S> read(String body, Class<S> spec, HttpServletRequest request) {
        JavaType type = JSON.getTypeFactory().constructParametricType(Asked.class, spec);
        try {
            Asked<S> asked = JSON.readValue(body, type);
            if (asked != null) {
                asked.requireShortMetadata();
                return asked;
            }
        } catch (JacksonException e) {
            throw new HttpMessageNotReadableException(
                    "no question", e, new ServletServerHttpRequest(request));
        }
        throw new HttpMessageNotReadableException(
                "no question", new ServletServerHttpRequest(request));
    }

    private void requireShortMetadata() {
        if (metadata != null && metadata.toString().length() > MOST_METADATA) {
            throw new ResponseStatusException(
                    HttpStatus.CONTENT_TOO_LARGE,
                    "metadata of a question has %d KiB at most".formatted(MOST_METADATA / 1024));
        }
    }

    /** What is asked, about a namespace; the object may name that one alone. */
    @Nullable S of(String namespace) {
        String named = metadata == null ? null : metadata.path("namespace").asString(null);
        if (named != null && !named.equals(namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "metadata.namespace is %s, and the question is about %s"
                            .formatted(named, namespace));
        }
        return spec;
    }

    /** As the API server passes it back. */
    ResponseEntity<Object> answered(String kind, Object spec, Object status) {
        return ResponseEntity.status(HttpStatus.CREATED)
                .contentType(MediaType.APPLICATION_JSON)
                .body(new Answered(Discovery.API_VERSION, kind, metadata, spec, status));
    }
}
