package io.gpusharing.timekeeper.statement;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.budget.Quote.Work;
import io.gpusharing.kubernetes.ManifestReader;
import io.gpusharing.kubernetes.ManifestReader.ManifestException;
import io.gpusharing.kubernetes.Replicas;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.HeapShares;
import io.gpusharing.timekeeper.web.QuestionBodies;
import io.gpusharing.web.Caller;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * Reads the manifests that people ask about, as far as threads and memory allow. What cannot be
 * read is a {@link ResponseStatusException} with a sentence for the user.
 */
@Component
public class Manifests {

    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

    /** Reports of meters are served by the same threads, and this takes time and memory. */
    private static final int AT_ONCE = 3;

    private final ManifestReader manifests;
    private final Budgets budgets;
    private final Callers callers;
    private final Clock clock;
    private final ManifestMemory memory;
    private final QuestionBodies bodies;
    private final Semaphore answering = new Semaphore(AT_ONCE);

    Manifests(RequestGrammars grammars, Budgets budgets, Callers callers, Clock clock) {
        this.manifests = new ManifestReader(grammars);
        this.budgets = budgets;
        this.callers = callers;
        this.clock = clock;
        this.memory = new ManifestMemory(HeapShares.ofThisProcess().manifests());
        this.bodies =
                new QuestionBodies(
                        "manifest", memory.largest(), ManifestMemory.READ_AT_ONCE, clock);
    }

    /** Where a manifest comes from; read only once the question is allowed. */
    @FunctionalInterface
    public interface Source {
        String text() throws IOException;
    }

    /** What is legal only with some text. */
    @FunctionalInterface
    private interface Reading<T> {
        T read() throws ManifestException;
    }

    /** Whoever asks about a manifest may make pods of it. */
    void requireMayCreatePods(String namespace, Caller caller) {
        requireNamespace(namespace);
        if (!callers.mayCreatePods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "This needs the right to create pods in the namespace " + namespace);
        }
    }

    /** The pod, as if it had been created now. */
    Pod pod(String manifest, String namespace) {
        return reading(() ->
                manifests.read(
                        manifest,
                        namespace,
                        budgets.ofNamespace(namespace).map(BudgetState::name).orElse(null),
                        clock.instant()));
    }

    /**
     * What all of its pods are together.
     *
     * @param each how long each of them runs; null for as long as it may
     */
    Work work(String manifest, @Nullable Duration each) {
        return reading(() -> Replicas.of(manifests.object(manifest)).work(each));
    }

    private static <T> T reading(Reading<T> reading) {
        try {
            return reading.read();
        } catch (ManifestException e) {
            throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, e.getMessage());
        }
    }

    /** What somebody has asked about a manifest, once there is memory for what is made of it. */
    <T> T answer(String manifest, Supplier<T> answer) {
        return answer(() -> memory.during(manifest, answer));
    }

    /** What somebody has asked; of three at once. */
    <T> T answer(Supplier<T> answer) {
        if (!answering.tryAcquire()) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "%d such questions are being answered; ask again in a few seconds"
                            .formatted(AT_ONCE));
        }
        try {
            return answer.get();
        } finally {
            answering.release();
        }
    }

    /**
     * The body of a question with a manifest.
     *
     * @param reader makes of it what is needed, while the place is still kept
     */
    public <T> T read(HttpServletRequest request, Function<String, T> reader) throws IOException {
        return bodies.read(request, body -> memory.during(body, () -> reader.apply(body)));
    }

    static void requireNamespace(String name) {
        requireName(DNS_LABEL, name, "a namespace");
    }

    static void requireName(Pattern pattern, String name, String of) {
        if (!pattern.matcher(name).matches()) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "%s is no name of %s".formatted(name, of));
        }
    }
}
