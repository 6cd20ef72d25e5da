package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import io.gpusharing.kubernetes.Replicas;
import io.gpusharing.timekeeper.statement.NewPods;
import io.gpusharing.timekeeper.statement.QuoteAnswers;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.swagger.v3.oas.annotations.Hidden;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
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
 * {@code kubectl create -f quote.yaml -o yaml}: what new pods would cost, and whether the budget
 * lasts for them.
 */
@Hidden
@RestController
@RequestMapping(Discovery.PATH)
class Quotes {

    private final NewPods pods;
    private final QuoteAnswers answers;

    Quotes(NewPods pods, QuoteAnswers answers) {
        this.pods = pods;
        this.answers = answers;
    }

    /**
     * What is to be priced.
     *
     * @param newPod one of them, as the API server admits it
     * @param pods how many there are in all; null is one
     * @param atOnce how many of them run at once; null is all
     * @param activeDeadlineSeconds how long they may run together, as a {@code Job} says it
     * @param each how long each pod runs, for instance {@code 3h}; null for as long as it may
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Spec(
            @JsonRawValue @JsonDeserialize(using = RawJson.class) @Nullable String newPod,
            @Nullable Integer pods,
            @Nullable Integer atOnce,
            @Nullable Integer activeDeadlineSeconds,
            @JsonProperty("for") @Nullable String each) {

        Replicas replicas() {
            int all = pods == null ? 1 : pods;
            return new Replicas(
                    all,
                    atOnce == null ? all : atOnce,
                    null,
                    activeDeadlineSeconds == null
                            ? null
                            : Duration.ofSeconds(activeDeadlineSeconds));
        }
    }

    /** Quotes. */
    @PostMapping("/namespaces/{namespace}/quotes")
    ResponseEntity<Object> create(
            @PathVariable String namespace, Authentication who, HttpServletRequest request)
            throws IOException {
        return pods.read(
                request,
                body -> answer(namespace, Asked.read(body, Spec.class, request), Callers.of(who)));
    }

    private ResponseEntity<Object> answer(String namespace, Asked<Spec> asked, Caller caller) {
        Spec spec = asked.of(namespace);
        String newPod = spec == null ? null : spec.newPod();
        if (spec == null || newPod == null) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "spec has a newPod, and for says how long each of its pods runs, for instance 3h");
        }
        return asked.answered(
                "Quote", spec, answers.of(namespace, newPod, spec.replicas(), spec.each(), caller));
    }
}
