package io.gpusharing.timekeeper.statement;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.ManifestReader;
import io.gpusharing.kubernetes.ManifestReader.ManifestException;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.reclaim.NotSeenException;
import io.gpusharing.timekeeper.reclaim.PlacementExplanations;
import io.gpusharing.timekeeper.reclaim.explain.Explanation;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.gpusharing.web.RequestBodyLimit;
import io.gpusharing.web.RequestBodyLimit.Body;
import io.gpusharing.web.RequestBodyLimit.Place;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ResponseStatusException;

/**
 * Answers where a pod is, or why it waits, and the same of a manifest, whoever carries the
 * question. Nothing is created. What cannot be answered is a {@link ResponseStatusException} with a
 * sentence for the user.
 */
@Component
public class PlacementAnswers {

    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final Pattern POD_NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

    private static final int MOST_NODES = 50;

    /** A parser makes up to 200 bytes of each byte of it. */
    private static final DataSize MANIFEST = DataSize.ofKilobytes(128);

    /** Reports of meters are served by the same threads, and this takes time and memory. */
    private static final int AT_ONCE = 3;

    private static final int READ_AT_ONCE = 4;

    private static final Duration LONGEST = Duration.ofSeconds(10);

    private final PlacementExplanations explanations;
    private final ManifestReader manifests;
    private final Budgets budgets;
    private final Callers callers;
    private final Clock clock;
    private final RequestBodyLimit bodies;
    private final Semaphore answering = new Semaphore(AT_ONCE);

    PlacementAnswers(
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
        this.bodies =
                new RequestBodyLimit(
                        DataSize.ofBytes(READ_AT_ONCE * MANIFEST.toBytes()), LONGEST, clock);
    }

    /**
     * Where a pod is, or why it waits. For who may get pods in its namespace; pods of other
     * namespaces are named where who asks may get those.
     *
     * @param nodes how many nodes are shown with their GPUs, 0 to 50
     */
    public Explanation ofPod(String namespace, String name, int nodes, Caller caller) {
        requireName(DNS_LABEL, namespace, "a namespace");
        requireName(POD_NAME, name, "a pod");
        if (!callers.mayReadPods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "This needs the right to get pods in the namespace " + namespace);
        }
        requireShowable(nodes);
        return answer(() ->
                explanations
                        .ofPod(namespace, name, nodes, there -> callers.mayReadPods(caller, there))
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "There is no pod %s in %s".formatted(name, namespace))));
    }

    /**
     * The same of a manifest: a Pod, or a workload with a pod template, of which one pod is
     * explained. For who may create pods in the namespace.
     *
     * @param manifest JSON or YAML, read only once the question is allowed
     */
    public Explanation ofManifest(String namespace, Manifest manifest, int nodes, Caller caller)
            throws IOException {
        requireName(DNS_LABEL, namespace, "a namespace");
        if (!callers.mayCreatePods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "This needs the right to create pods in the namespace " + namespace);
        }
        requireShowable(nodes);
        String text = manifest.text();
        return answer(() ->
                explanations.ofManifest(
                        pod(text, namespace), nodes, there -> callers.mayReadPods(caller, there)));
    }

    /** Where a manifest comes from. */
    @FunctionalInterface
    public interface Manifest {
        String text() throws IOException;
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

    /**
     * The body of a question: 128 KiB at most, within ten seconds, of four at once. Others wait for
     * the same threads, and so whoever sends slowly has few of them.
     *
     * @param reader makes of it what is needed, while the place is still kept
     */
    public <T> T read(HttpServletRequest request, Function<String, T> reader) throws IOException {
        if (request.getContentLengthLong() > MANIFEST.toBytes()) {
            throw tooLarge();
        }
        // However short it is, it takes a whole place: its thread is what is scarce.
        try (Place place = bodies.enter(Math.toIntExact(MANIFEST.toBytes()))) {
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
                case Body.Read(byte[] bytes) ->
                        reader.apply(new String(bytes, StandardCharsets.UTF_8));
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

    private static void requireShowable(int nodes) {
        if (nodes < 0 || nodes > MOST_NODES) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "nodes is from 0 to %d, not %d".formatted(MOST_NODES, nodes));
        }
    }
}
