package io.gpusharing.timekeeper.statement;

import io.gpusharing.timekeeper.reclaim.NotReadException;
import io.gpusharing.timekeeper.reclaim.NotSeenException;
import io.gpusharing.timekeeper.reclaim.PlacementExplanations;
import io.gpusharing.timekeeper.reclaim.explain.Explanation;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * Answers where a pod is, or why it waits, and the same of a new pod, whoever carries the question.
 * Nothing is created. What cannot be answered is a {@link ResponseStatusException} with a sentence
 * for the user.
 */
@Component
public class PlacementAnswers {

    private static final Pattern POD_NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

    private static final int MOST_NODES = 50;

    private final PlacementExplanations explanations;
    private final NewPods pods;
    private final Callers callers;

    PlacementAnswers(PlacementExplanations explanations, NewPods pods, Callers callers) {
        this.explanations = explanations;
        this.pods = pods;
        this.callers = callers;
    }

    /**
     * Where a pod is, or why it waits. For who may get pods in its namespace; pods of other
     * namespaces are named where who asks may get those.
     *
     * @param nodes how many nodes are shown with their GPUs, 0 to 50
     */
    public Explanation ofPod(String namespace, String name, int nodes, Caller caller) {
        NewPods.requireNamespace(namespace);
        NewPods.requireName(POD_NAME, name, "a pod");
        if (!callers.mayReadPods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "This needs the right to get pods in the namespace " + namespace);
        }
        requireShowable(nodes);
        return answer(() ->
                pods.answer(() ->
                        explanations
                                .ofPod(
                                        namespace,
                                        name,
                                        nodes,
                                        there -> callers.mayReadPods(caller, there))
                                .orElseThrow(() ->
                                        new ResponseStatusException(
                                                HttpStatus.NOT_FOUND,
                                                "There is no pod %s in %s"
                                                        .formatted(name, namespace)))));
    }

    /**
     * The same of a pod that is not there. For who may create pods in the namespace.
     *
     * @param json a Pod, as the API server admits it
     */
    public Explanation ofNewPod(String namespace, String json, int nodes, Caller caller) {
        requireMayAskOfNewPod(namespace, nodes, caller);
        return answer(() ->
                pods.answer(() ->
                        explanations.ofNewPod(
                                pods.pod(json, namespace),
                                nodes,
                                there -> callers.mayReadPods(caller, there))));
    }

    /** Before the pod is read. */
    void requireMayAskOfNewPod(String namespace, int nodes, Caller caller) {
        pods.requireMayCreatePods(namespace, caller);
        requireShowable(nodes);
    }

    private static Explanation answer(Supplier<Explanation> explanation) {
        try {
            return explanation.get();
        } catch (NotSeenException e) {
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, e.getMessage());
        } catch (NotReadException e) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT, "The pod cannot be read: " + e.getMessage());
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
