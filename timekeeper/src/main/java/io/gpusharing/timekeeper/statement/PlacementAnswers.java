package io.gpusharing.timekeeper.statement;

import io.gpusharing.timekeeper.explanation.SchedulerExplanations;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.ExplanationQuestion;
import io.gpusharing.wire.ExplanationQuestion.PodName;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * Answers where a pod is, or why it waits, and the same of a new pod, whoever carries the question:
 * the scheduler says it. Nothing is created. What cannot be answered is a {@link
 * ResponseStatusException} with a sentence for the user.
 */
@Component
public class PlacementAnswers {

    private static final Pattern POD_NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

    private final SchedulerExplanations explanations;
    private final NewPods pods;
    private final Callers callers;

    PlacementAnswers(SchedulerExplanations explanations, NewPods pods, Callers callers) {
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
        return pods.answer(() ->
                explanations.ask(question(new PodName(namespace, name), null, nodes, caller)));
    }

    /**
     * The same of a pod that is not there. For who may create pods in the namespace.
     *
     * @param json a Pod, as the API server admits it
     */
    public Explanation ofNewPod(String namespace, String json, int nodes, Caller caller) {
        requireMayAskOfNewPod(namespace, nodes, caller);
        return pods.answer(() ->
                explanations.ask(
                        question(null, pods.json(pods.pod(json, namespace)), nodes, caller)));
    }

    /** Before the pod is read. */
    void requireMayAskOfNewPod(String namespace, int nodes, Caller caller) {
        pods.requireMayCreatePods(namespace, caller);
        requireShowable(nodes);
    }

    private static ExplanationQuestion question(
            @Nullable PodName pod, @Nullable String newPod, int nodes, Caller caller) {
        return new ExplanationQuestion(
                caller.name(), caller.uid(), caller.groups(), caller.extra(), pod, newPod, nodes);
    }

    private static void requireShowable(int nodes) {
        if (nodes < 0 || nodes > ExplanationQuestion.MOST_NODES) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST,
                    "nodes is from 0 to %d, not %d"
                            .formatted(ExplanationQuestion.MOST_NODES, nodes));
        }
    }
}
