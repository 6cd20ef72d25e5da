package io.gpusharing.timekeeper.statement;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.reclaim.NotSeenException;
import io.gpusharing.timekeeper.reclaim.PlacementExplanations;
import io.gpusharing.timekeeper.reclaim.explain.Explanation;
import io.gpusharing.timekeeper.statement.ManifestReader.ManifestException;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.gpusharing.web.RequestBodyLimit;
import io.gpusharing.web.RequestBodyLimit.Body;
import io.gpusharing.web.RequestBodyLimit.Place;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.parameters.RequestBody;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.security.core.Authentication;
import org.springframework.util.unit.DataSize;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Where a pod is, or why it waits. */
@RestController
@RequestMapping("/api/v1/pods/{namespace}")
class PlacementController {

    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final Pattern POD_NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

    private static final int MOST_NODES = 50;

    /** A parser makes up to 200 bytes of each byte of it. */
    private static final DataSize MANIFEST = DataSize.ofKilobytes(128);

    private static final DataSize MANIFESTS = DataSize.ofMegabytes(1);

    /** Reports of meters are served by the same threads, and this takes time and memory. */
    private static final int AT_ONCE = 3;

    private static final Duration LONGEST = Duration.ofSeconds(10);

    private final PlacementExplanations explanations;
    private final ManifestReader manifests;
    private final Budgets budgets;
    private final Callers callers;
    private final Clock clock;
    private final RequestBodyLimit bodies;
    private final Semaphore answering = new Semaphore(AT_ONCE);

    PlacementController(
            PlacementExplanations explanations,
            RequestGrammars grammars,
            Budgets budgets,
            Callers callers,
            Clock clock) {
        this.explanations = explanations;
        this.manifests = new ManifestReader(grammars);
        this.budgets = budgets;
        this.callers = callers;
        this.clock = clock;
        this.bodies = new RequestBodyLimit(MANIFESTS, LONGEST, clock);
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
        Caller caller = Callers.of(who);
        requireName(DNS_LABEL, namespace, "a namespace");
        requireName(POD_NAME, name, "a pod");
        if (!callers.mayReadPods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "This needs the right to get pods in the namespace " + namespace);
        }
        int detailed = detailed(nodes);
        return answer(() ->
                explanations
                        .ofPod(
                                namespace,
                                name,
                                detailed,
                                there -> callers.mayReadPods(caller, there))
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "There is no pod %s in %s".formatted(name, namespace))));
    }

    /**
     * The same of a manifest: would it fit, and why not. A Pod, or a workload with a pod template,
     * of which one pod is explained. Nothing is created. For who may create pods in the namespace.
     */
    @PostMapping(
            path = "/placement",
            consumes = {
                MediaType.APPLICATION_JSON_VALUE,
                MediaType.APPLICATION_YAML_VALUE,
                "application/x-yaml",
                "text/yaml"
            })
    @Operation(
            requestBody =
                    @RequestBody(
                            required = true,
                            content = {
                                @Content(
                                        mediaType = MediaType.APPLICATION_JSON_VALUE,
                                        schema = @Schema(type = "object")),
                                @Content(
                                        mediaType = MediaType.APPLICATION_YAML_VALUE,
                                        schema = @Schema(type = "object"))
                            }))
    @ApiResponse(responseCode = "200")
    @ApiResponse(responseCode = "413", description = "The manifest is larger than 128 KiB")
    @ApiResponse(responseCode = "422", description = "No pod could be made from the manifest")
    Explanation manifest(
            @PathVariable String namespace,
            @RequestParam(defaultValue = "5") int nodes,
            Authentication who,
            HttpServletRequest request)
            throws IOException {
        Caller caller = Callers.of(who);
        requireName(DNS_LABEL, namespace, "a namespace");
        if (!callers.mayCreatePods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "This needs the right to create pods in the namespace " + namespace);
        }
        int detailed = detailed(nodes);
        String manifest = body(request);
        return answer(() ->
                explanations.ofManifest(
                        pod(manifest, namespace),
                        detailed,
                        there -> callers.mayReadPods(caller, there)));
    }

    private Pod pod(String manifest, String namespace) {
        try {
            return manifests.read(
                    manifest,
                    namespace,
                    budgets.ofNamespace(namespace).map(BudgetState::name).orElse(null),
                    clock.instant());
        } catch (ManifestException e) {
            throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, e.getMessage());
        }
    }

    private Explanation answer(Supplier<Explanation> explanation) {
        if (!answering.tryAcquire()) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "%d such questions are being answered; ask again in a few seconds"
                            .formatted(AT_ONCE));
        }
        try {
            return explanation.get();
        } catch (NotSeenException e) {
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, e.getMessage());
        } finally {
            answering.release();
        }
    }

    private String body(HttpServletRequest request) throws IOException {
        long length = request.getContentLengthLong();
        if (length > MANIFEST.toBytes()) {
            throw tooLarge();
        }
        try (Place place =
                bodies.enter(Math.toIntExact(length < 0 ? MANIFEST.toBytes() : length))) {
            if (place == null) {
                throw new ResponseStatusException(
                        HttpStatus.SERVICE_UNAVAILABLE,
                        "Too many manifests are being read; ask again in a few seconds");
            }
            return switch (place.read(request.getInputStream())) {
                case Body.TooLarge _ -> throw tooLarge();
                case Body.TooSlow _ ->
                        throw new ResponseStatusException(
                                HttpStatus.REQUEST_TIMEOUT,
                                "A manifest has to come within %d s"
                                        .formatted(LONGEST.toSeconds()));
                case Body.Read(byte[] bytes) -> new String(bytes, StandardCharsets.UTF_8);
            };
        }
    }

    private static ResponseStatusException tooLarge() {
        return new ResponseStatusException(
                HttpStatus.CONTENT_TOO_LARGE, "A manifest has 128 KiB at most");
    }

    private static void requireName(Pattern pattern, String name, String of) {
        if (!pattern.matcher(name).matches()) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "%s is no name of %s".formatted(name, of));
        }
    }

    private static int detailed(int nodes) {
        if (nodes < 0 || nodes > MOST_NODES) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "nodes is from 0 to %d, not %d".formatted(MOST_NODES, nodes));
        }
        return nodes;
    }
}
