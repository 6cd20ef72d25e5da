package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.gpusharing.request.Verdict;
import io.gpusharing.request.Violation;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a pod that no API server has stored must have before anybody judges it. */
public final class NewPodRules {

    private static final String NOT_SET = "not set";

    private final RequestGrammars grammars;

    public NewPodRules(RequestGrammars grammars) {
        this.grammars = grammars;
    }

    /**
     * Checks that a pod could be made of a spec, as far as its GPUs and amounts go.
     *
     * @param where its fields stand, for instance {@code spec.template.}; empty for a pod itself
     * @throws IllegalArgumentException if not; the message names the field and what would be legal
     */
    public void requireLegal(PodSpec spec, String where) {
        if (spec.getContainers().isEmpty()) {
            throw new IllegalArgumentException(
                    where + "spec.containers is empty; a pod has one container at least");
        }
        for (Container container : spec.getContainers()) {
            if (container.getName() == null) {
                throw new IllegalArgumentException(
                        where + "spec.containers: a container has no name; each has one");
            }
        }
        Verdict verdict = judged(spec, where);
        // What is left out the webhook may write: a site can have a default for it.
        if (verdict instanceof Verdict.Illegal illegal
                && illegal.violations().stream().anyMatch(it -> !it.found().equals(NOT_SET))) {
            throw new IllegalArgumentException(
                    illegal.violations().stream()
                            .map(Violation::message)
                            .map(message -> where + "spec.containers: " + message)
                            .collect(Collectors.joining("; ")));
        }
    }

    private Verdict judged(PodSpec spec, String where) {
        try {
            requireQuantities(spec);
            return grammars.judge(ResourceReader.request(spec, grammars::reads));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "%sspec.containers: resources: %s; use a number such as 50"
                            .formatted(where, e.getMessage()),
                    e);
        }
    }

    /** What is no GPU is read, too, when room for it is looked for. */
    private static void requireQuantities(PodSpec spec) {
        Stream<ResourceRequirements> all =
                Stream.concat(
                        Stream.of(spec.getContainers(), spec.getInitContainers())
                                .flatMap(List::stream)
                                .map(Container::getResources),
                        Stream.ofNullable(spec.getResources()));
        Stream.concat(
                        all.filter(Objects::nonNull)
                                .flatMap(it -> Stream.of(it.getLimits(), it.getRequests())),
                        Stream.ofNullable(spec.getOverhead()))
                .filter(Objects::nonNull)
                .forEach(amounts -> amounts.forEach(NewPodRules::requireQuantity));
    }

    private static void requireQuantity(String resource, Quantity amount) {
        try {
            ResourceReader.amount(amount);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("%s is %s".formatted(resource, amount), e);
        }
    }
}
