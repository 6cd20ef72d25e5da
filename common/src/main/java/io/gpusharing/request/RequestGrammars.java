package io.gpusharing.request;

import static io.gpusharing.request.Rule.ONE_PROVIDER;

import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.NotOurs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The grammars a site has switched on, asked as one. */
public final class RequestGrammars {

    private final List<RequestGrammar> grammars;

    /**
     * @param grammars in order of precedence: a resource belongs to the first that reads it
     */
    public RequestGrammars(List<RequestGrammar> grammars) {
        this.grammars = List.copyOf(grammars);
    }

    /** Whether any grammar gives the resource a meaning. */
    public boolean reads(String resource) {
        return grammars.stream().anyMatch(grammar -> grammar.reads(resource));
    }

    /** The verdict of the one grammar that the pod speaks; speaking two is a violation. */
    public Verdict judge(PodRequest pod) {
        List<RequestGrammar> spoken =
                grammars.stream().filter(grammar -> pod.asksFor(grammar::reads)).toList();
        return switch (spoken.size()) {
            case 0 -> new NotOurs();
            case 1 -> spoken.getFirst().judge(pod);
            default -> new Illegal(mixed(pod, spoken));
        };
    }

    /** The grammar that a pod speaks; empty if it asks for no GPU. */
    public Optional<RequestGrammar> grammarOf(PodRequest pod) {
        return grammars.stream().filter(grammar -> pod.asksFor(grammar::reads)).findFirst();
    }

    private static List<Violation> mixed(PodRequest pod, List<RequestGrammar> spoken) {
        RequestGrammar first = spoken.getFirst();
        var violations = new ArrayList<Violation>();
        for (ContainerRequest container : pod.containers()) {
            new TreeMap<>(container.limits())
                    .forEach((resource, amount) -> {
                        if (!first.reads(resource)
                                && spoken.stream().anyMatch(it -> it.reads(resource))) {
                            violations.add(
                                    new Violation(
                                            container.name(),
                                            "resources.limits",
                                            resource,
                                            amount.text(),
                                            ONE_PROVIDER,
                                            "only the resources of " + first.name()));
                        }
                    });
        }
        return violations;
    }
}
