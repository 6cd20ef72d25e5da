package io.gpusharing.timekeeper.statement;

import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.gpusharing.wire.Explanation;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.parameters.RequestBody;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.http.MediaType;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Where a pod is, or why it waits. */
@RestController
@RequestMapping("/api/v1/pods/{namespace}")
class PlacementController {

    private final PlacementAnswers answers;
    private final NewPods pods;

    PlacementController(PlacementAnswers answers, NewPods pods) {
        this.answers = answers;
        this.pods = pods;
    }

    /**
     * Where a pod is, or why it waits: what it asks for, which GPUs are free and why none does, who
     * would have to go, and when budgets end that would make room. For who may get pods in its
     * namespace; pods of other namespaces are named where who asks may get those.
     *
     * @param nodes how many nodes are shown with their GPUs, 0 to 50
     */
    @GetMapping("/{name}/placement")
    Explanation pod(
            @PathVariable String namespace,
            @PathVariable String name,
            @RequestParam(defaultValue = "5") int nodes,
            Authentication who) {
        return answers.ofPod(namespace, name, nodes, Callers.of(who));
    }

    /**
     * The same of a pod that is not there: would it fit, and why not. It is a Pod as the API server
     * admits it, of which the name, the annotations and the spec are read. Nothing is created. For
     * who may create pods in the namespace.
     */
    @PostMapping(path = "/placement", consumes = MediaType.APPLICATION_JSON_VALUE)
    @Operation(
            requestBody =
                    @RequestBody(
                            required = true,
                            content =
                                    @Content(
                                            mediaType = MediaType.APPLICATION_JSON_VALUE,
                                            schema = @Schema(type = "object"))))
    @ApiResponse(responseCode = "200")
    @ApiResponse(responseCode = "413", description = "The pod is larger than 32 KiB")
    @ApiResponse(responseCode = "422", description = "There could be no such pod")
    Explanation newPod(
            @PathVariable String namespace,
            @RequestParam(defaultValue = "5") int nodes,
            Authentication who,
            HttpServletRequest request)
            throws IOException {
        Caller caller = Callers.of(who);
        answers.requireMayAskOfNewPod(namespace, nodes, caller);
        return pods.read(request, json -> answers.ofNewPod(namespace, json, nodes, caller));
    }
}
