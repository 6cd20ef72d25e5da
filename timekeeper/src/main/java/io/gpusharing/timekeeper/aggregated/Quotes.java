package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import io.gpusharing.timekeeper.statement.Manifests;
import io.gpusharing.timekeeper.statement.QuoteAnswers;
import io.gpusharing.timekeeper.web.Callers;
import io.swagger.v3.oas.annotations.Hidden;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.annotation.JsonDeserialize;

/**
 * {@code kubectl create -f quote.yaml -o yaml}: what the pods of a manifest would cost, and whether
 * the budget lasts for them.
 */
@Hidden
@RestController
@RequestMapping(Discovery.PATH)
class Quotes {

    private final Manifests manifests;
    private final QuoteAnswers answers;

    Quotes(Manifests manifests, QuoteAnswers answers) {
        this.manifests = manifests;
        this.answers = answers;
    }

    /**
     * What is to be priced.
     *
     * @param manifest of a pod, or of a workload with a pod template
     * @param each how long each pod runs, for instance {@code 3h}; null for as long as it may
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Spec(
            @JsonRawValue @JsonDeserialize(using = RawJson.class) @Nullable String manifest,
            @JsonProperty("for") @Nullable String each) {}

    /** Quotes. */
    @PostMapping("/namespaces/{namespace}/quotes")
    ResponseEntity<Object> create(
            @PathVariable String namespace, Authentication who, HttpServletRequest request)
            throws IOException {
        Asked<Spec> asked = manifests.read(request, body -> Asked.read(body, Spec.class, request));
        Spec spec = asked.of(namespace);
        String manifest = spec == null ? null : spec.manifest();
        if (spec == null || manifest == null) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "spec has a manifest, and for says how long each of its pods runs, for instance 3h");
        }
        return asked.answered(
                "Quote", spec, answers.of(namespace, () -> manifest, spec.each(), Callers.of(who)));
    }
}
