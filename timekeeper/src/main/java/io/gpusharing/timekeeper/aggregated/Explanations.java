package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.timekeeper.reclaim.explain.Explanation;
import io.gpusharing.timekeeper.statement.PlacementAnswers;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.swagger.v3.oas.annotations.Hidden;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code kubectl create -f explanation.yaml -o yaml}: where a pod is or why it waits, and whether
 * one of a manifest would fit. Like an access review, it is answered and stored nowhere.
 */
@Hidden
@RestController
@RequestMapping(Discovery.PATH)
class Explanations {

    private static final int USUAL_NODES = 5;

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

    private final PlacementAnswers answers;

    Explanations(PlacementAnswers answers) {
        this.answers = answers;
    }

    /** A question; the status that it may have is not looked at. */
    @JsonIgnoreProperties("status")
    record Asked(
            @Nullable String apiVersion,
            @Nullable String kind,
            @Nullable JsonNode metadata,
            @Nullable Spec spec) {

        private @Nullable String namespace() {
            return metadata == null ? null : metadata.path("namespace").asString(null);
        }
    }

    /**
     * What is to be explained: one of the two.
     *
     * @param pod a name in the namespace
     * @param manifest of a pod, or of a workload with a pod template
     * @param nodes how many nodes are shown with their GPUs, 0 to 50
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Spec(@Nullable String pod, @Nullable JsonNode manifest, @Nullable Integer nodes) {

        Spec {
            // To Kubernetes null is the same as absent.
            manifest = manifest == null || manifest.isNull() ? null : manifest;
        }
    }

    /** The question with its answer. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Answered(
            String apiVersion,
            String kind,
            @Nullable JsonNode metadata,
            Spec spec,
            Explanation status) {}

    /** Explains. */
    @PostMapping("/namespaces/{namespace}/explanations")
    ResponseEntity<Object> create(
            @PathVariable String namespace, Authentication who, HttpServletRequest request)
            throws IOException {
        Asked asked = answers.read(request, body -> asked(body, request));
        if (asked.namespace() != null && !asked.namespace().equals(namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "metadata.namespace is %s, and the question is about %s"
                            .formatted(asked.namespace(), namespace));
        }
        Spec spec = asked.spec();
        if (spec == null || (spec.pod() == null) == (spec.manifest() == null)) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "spec names a pod, or has a manifest, for instance spec: {pod: train-1}");
        }
        return ResponseEntity.status(HttpStatus.CREATED)
                .contentType(MediaType.APPLICATION_JSON)
                .body(
                        new Answered(
                                Discovery.API_VERSION,
                                "Explanation",
                                asked.metadata(),
                                spec,
                                explained(namespace, spec, Callers.of(who))));
    }

    private Explanation explained(String namespace, Spec spec, Caller caller) throws IOException {
        int nodes = spec.nodes() == null ? USUAL_NODES : spec.nodes();
        JsonNode manifest = spec.manifest();
        return manifest == null
                ? answers.ofPod(namespace, String.valueOf(spec.pod()), nodes, caller)
                : answers.ofManifest(namespace, manifest::toString, nodes, caller);
    }

    /** What cannot be read is said in the words of everywhere else. */
    private static Asked asked(String body, HttpServletRequest request) {
        try {
            Asked asked = JSON.readValue(body, Asked.class);
            if (asked != null) {
                return asked;
            }
        } catch (JacksonException e) {
            throw new HttpMessageNotReadableException(
                    "no Explanation", e, new ServletServerHttpRequest(request));
        }
        throw new HttpMessageNotReadableException(
                "no Explanation", new ServletServerHttpRequest(request));
    }
}
