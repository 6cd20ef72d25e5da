package io.gpusharing.timekeeper.statement;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.NewPodRules;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.HeapShares;
import io.gpusharing.web.Caller;
import io.gpusharing.web.QuestionBodies;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the pods that people ask about before they create them: JSON as the API server admits it,
 * as far as threads and memory allow. What cannot be read is a {@link ResponseStatusException} with
 * a sentence for the user.
 */
@Component
public class NewPods {

    private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

    /** Reports of meters are served by the same threads, and this takes time and memory. */
    private static final int AT_ONCE = 3;

    /** Questions in memory at once: those that are being answered, and one that is read. */
    private static final int READ_AT_ONCE = AT_ONCE + 1;

    /** Many times what decides about the price and the place of a pod. */
    private static final DataSize LARGEST = DataSize.ofKilobytes(32);

    /**
     * Bytes that are made of each byte: containers without a word, as they are in memory, and the
     * text in pieces, whole, and as JSON once more.
     */
    private static final int WEIGHT = 200;

    private static final JsonMapper JSON =
            JsonMapper.builder()
                    // As the API server takes them: what is null is left out.
                    .changeDefaultNullHandling(
                            _ -> JsonSetter.Value.construct(Nulls.SKIP, Nulls.SKIP))
                    .build();

    private final KubernetesSerialization serialization = new KubernetesSerialization(JSON, false);
    private final NewPodRules rules;
    private final Budgets budgets;
    private final Callers callers;
    private final Clock clock;
    private final QuestionBodies bodies;
    private final Semaphore answering = new Semaphore(AT_ONCE);

    NewPods(RequestGrammars grammars, Budgets budgets, Callers callers, Clock clock) {
        this.rules = new NewPodRules(grammars);
        this.budgets = budgets;
        this.callers = callers;
        this.clock = clock;
        this.bodies =
                new QuestionBodies(
                        "question",
                        largest(HeapShares.ofThisProcess().questions()),
                        READ_AT_ONCE,
                        clock);
    }

    /**
     * The most that a question has, so that all that are read at once fit in their part of the
     * heap.
     *
     * @param bytes that part
     */
    static DataSize largest(int bytes) {
        return DataSize.ofBytes(Math.min(LARGEST.toBytes(), bytes / (READ_AT_ONCE * WEIGHT)));
    }

    /** Whoever asks about a new pod may make it. */
    void requireMayCreatePods(String namespace, Caller caller) {
        requireNamespace(namespace);
        if (!callers.mayCreatePods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "This needs the right to create pods in the namespace " + namespace);
        }
    }

    /**
     * The pod, as if it had been created now.
     *
     * @param json a {@code Pod}, of which {@code metadata} and {@code spec} are read
     */
    Pod pod(String json, String namespace) {
        Pod pod = parsed(json);
        String named = pod.getMetadata().getNamespace();
        if (named != null && !named.equals(namespace)) {
            throw unusable(
                    "metadata.namespace is %s; use %s, for which you ask, or leave it out"
                            .formatted(named, namespace));
        }
        try {
            rules.requireLegal(pod.getSpec(), "");
        } catch (IllegalArgumentException e) {
            throw unusable(String.valueOf(e.getMessage()));
        }
        return created(pod, namespace);
    }

    /** A pod as the API server would store it. */
    String json(Pod pod) {
        return serialization.asJson(pod);
    }

    private Pod parsed(String json) {
        try {
            JsonNode object = JSON.readTree(json);
            String kind = object.path("kind").asString("Pod");
            if (!object.isObject() || !kind.equals("Pod")) {
                throw unusable(
                        object.isObject()
                                ? "kind is %s; use a Pod, as kubectl create --dry-run=server -o json shows it"
                                        .formatted(kind)
                                : "The pod is no object with metadata and spec");
            }
            Pod pod = serialization.convertValue(object, Pod.class);
            pod.setMetadata(requireNonNullElse(pod.getMetadata(), new ObjectMeta()));
            pod.setSpec(requireNonNullElse(pod.getSpec(), new PodSpec()));
            return pod;
        } catch (JacksonException e) {
            throw unusable("The pod cannot be read: " + e.getOriginalMessage());
        } catch (IllegalArgumentException e) {
            throw unusable("The pod cannot be read: " + e.getMessage());
        }
    }

    private static ResponseStatusException unusable(String why) {
        return new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, why);
    }

    private Pod created(Pod pod, String namespace) {
        ObjectMeta metadata = pod.getMetadata();
        metadata.setNamespace(namespace);
        metadata.setName(requireNonNullElse(metadata.getName(), ""));
        metadata.setUid(UUID.randomUUID().toString());
        metadata.setCreationTimestamp(clock.instant().toString());
        metadata.setOwnerReferences(List.of());
        metadata.setManagedFields(List.of());
        metadata.setDeletionTimestamp(null);
        metadata.setAnnotations(admitted(metadata, namespace));
        pod.getSpec().setNodeName(null);
        pod.setStatus(new PodStatus());
        return pod;
    }

    /** Who shares GPUs with whom follows from the budget, and whoever asks may write another. */
    private Map<String, String> admitted(ObjectMeta metadata, String namespace) {
        var annotations =
                new HashMap<String, String>(
                        requireNonNullElse(metadata.getAnnotations(), Map.of()));
        annotations.remove(Names.BUDGET_ANNOTATION);
        budgets.ofNamespace(namespace)
                .ifPresent(budget -> annotations.put(Names.BUDGET_ANNOTATION, budget.name()));
        return annotations;
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
     * Answers a question by its body.
     *
     * @param answer made while the memory for what the body has is still taken
     */
    public <T> T read(HttpServletRequest request, Function<String, T> answer) throws IOException {
        return bodies.read(request, answer);
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
