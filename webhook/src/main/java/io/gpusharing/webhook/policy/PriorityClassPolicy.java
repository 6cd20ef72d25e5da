package io.gpusharing.webhook.policy;

import io.gpusharing.webhook.cluster.NamespaceStanding;
import io.gpusharing.webhook.cluster.PriorityClasses;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.review.PodView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Which priority class a pod gets. */
public final class PriorityClassPolicy {

    /** Kubernetes keeps this prefix for classes of its own, which evict whatever else runs. */
    private static final String OF_THE_SYSTEM = "system-";

    private static final int IN_BUDGET_VALUE = 0;
    private static final int OVER_BUDGET_VALUE = -100;

    private final PriorityClassProperties properties;

    public PriorityClassPolicy(PriorityClassProperties properties) {
        this.properties = properties;
    }

    /**
     * The class to set; empty if the pod's own is kept.
     *
     * @param findings gets a warning if the class is lowered
     */
    public Optional<String> classFor(
            PodView pod, NamespaceStanding standing, PriorityClasses classes, Findings findings) {
        String chosen = chosen(pod, classes);
        if (standing.lowersPriority()) {
            return lowered(chosen, pod, standing, classes, findings);
        }
        return chosen == null && !defaultOutranksUs(classes)
                ? Optional.of(properties.inBudget())
                : Optional.empty();
    }

    /** Refuses a class that the user chose and the site does not allow. */
    public void checkChoice(PodView pod, PriorityClasses classes, Findings findings) {
        String chosen = chosen(pod, classes);
        if (chosen != null && !isAllowed(chosen)) {
            findings.refuse(
                    "CLASS_NOT_ALLOWED",
                    properties.allowed().isEmpty()
                            ? "spec.priorityClassName is %s: it is for parts of the cluster itself; choose another, or none"
                                    .formatted(chosen)
                            : "spec.priorityClassName is %s: GPU pods may use one of %s, or none"
                                    .formatted(chosen, new TreeSet<>(properties.allowed())));
        }
    }

    private Optional<String> lowered(
            @Nullable String chosen,
            PodView pod,
            NamespaceStanding standing,
            PriorityClasses classes,
            Findings findings) {
        Integer value = pod.spec().priority();
        if (chosen != null && value != null && value < overBudgetValue(classes)) {
            return Optional.empty();
        }
        findings.warn(
                "budget %s is used up: class %s, this pod yields to pods in budget"
                        .formatted(standing.budget(), properties.overBudget()));
        return Optional.of(properties.overBudget());
    }

    /** The cluster's default class is written into pods without one, so it is nobody's choice. */
    private static @Nullable String chosen(PodView pod, PriorityClasses classes) {
        String name = pod.spec().priorityClassName();
        return name == null || name.isEmpty() || name.equals(classes.globalDefault()) ? null : name;
    }

    private boolean isAllowed(String name) {
        return (properties.allowed().isEmpty() && !name.startsWith(OF_THE_SYSTEM))
                || properties.allowed().contains(name)
                || name.equals(properties.inBudget())
                || name.equals(properties.overBudget());
    }

    /** What is amiss with the cluster's classes, each with what to do about it. */
    List<String> problems(PriorityClasses classes) {
        var problems = new ArrayList<String>();
        for (String name : List.of(properties.inBudget(), properties.overBudget())) {
            if (!classes.values().containsKey(name)) {
                problems.add(
                        "priority class %s does not exist, so GPU pods that get it are refused; create it, or name another under gpusharing.classes"
                                .formatted(name));
            }
        }
        if (defaultOutranksUs(classes)) {
            problems.add(
                    "the cluster's default class %s (%d) is above %s (%d), so GPU pods in budget keep the default; give %s a value as high (classes.inBudget.value)"
                            .formatted(
                                    classes.globalDefault(),
                                    classes.values().get(classes.globalDefault()),
                                    properties.inBudget(),
                                    inBudgetValue(classes),
                                    properties.inBudget()));
        }
        if (overBudgetValue(classes) >= inBudgetValue(classes)) {
            problems.add(
                    "priority class %s is not below %s, so pods over budget yield to nobody; lower its value"
                            .formatted(properties.overBudget(), properties.inBudget()));
        }
        for (String name : new TreeSet<>(properties.allowed())) {
            if (!classes.values().containsKey(name)) {
                problems.add(
                        "priority class %s of gpusharing.classes.allowed does not exist"
                                .formatted(name));
            }
        }
        return problems;
    }

    /** Whether a GPU pod would lose priority by our class, against all pods that have none. */
    boolean defaultOutranksUs(PriorityClasses classes) {
        return classes.globalDefault() != null
                && classes.values().getOrDefault(classes.globalDefault(), 0)
                        > inBudgetValue(classes);
    }

    private int inBudgetValue(PriorityClasses classes) {
        return classes.values().getOrDefault(properties.inBudget(), IN_BUDGET_VALUE);
    }

    private int overBudgetValue(PriorityClasses classes) {
        return classes.values().getOrDefault(properties.overBudget(), OVER_BUDGET_VALUE);
    }
}
