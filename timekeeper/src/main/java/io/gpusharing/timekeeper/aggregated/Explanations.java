package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import io.gpusharing.timekeeper.statement.NewPods;
import io.gpusharing.timekeeper.statement.PlacementAnswers;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.gpusharing.wire.Explanation;
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
 * {@code kubectl create -f explanation.yaml -o yaml}: where a pod is or why it waits, and whether a
 * new one would fit. Like an access review, it is answered and stored nowhere.
 */
@Hidden
@RestController
@RequestMapping(Discovery.PATH)
class Explanations {

    private static final int USUAL_NODES = 5;

    private final NewPods pods;
    private final PlacementAnswers answers;

    Explanations(NewPods pods, PlacementAnswers answers) {
        this.pods = pods;
        this.answers = answers;
    }

    /**
     * What is to be explained: one of the two.
     *
     * @param pod a name in the namespace
     * @param newPod one that is not there, as the API server admits it
     * @param nodes how many nodes are shown with their GPUs, 0 to 50
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Spec(
            @Nullable String pod,
            @JsonRawValue @JsonDeserialize(using = RawJson.class) @Nullable String newPod,
            @Nullable Integer nodes) {}

    /** Explains. */
    @PostMapping("/namespaces/{namespace}/explanations")
    ResponseEntity<Object> create(
            @PathVariable String namespace, Authentication who, HttpServletRequest request)
            throws IOException {
        return pods.read(
                request,
                body -> answer(namespace, Asked.read(body, Spec.class, request), Callers.of(who)));
    }

    private ResponseEntity<Object> answer(String namespace, Asked<Spec> asked, Caller caller) {
        Spec spec = asked.of(namespace);
        if (spec == null || (spec.pod() == null) == (spec.newPod() == null)) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "spec names a pod, or has a newPod, for instance spec: {pod: train-1}");
        }
        return asked.answered("Explanation", spec, explained(namespace, spec, caller));
    }

    private Explanation explained(String namespace, Spec spec, Caller caller) {
        int nodes = spec.nodes() == null ? USUAL_NODES : spec.nodes();
        String newPod = spec.newPod();
        return newPod == null
                ? answers.ofPod(namespace, String.valueOf(spec.pod()), nodes, caller)
                : answers.ofNewPod(namespace, newPod, nodes, caller);
    }
}
