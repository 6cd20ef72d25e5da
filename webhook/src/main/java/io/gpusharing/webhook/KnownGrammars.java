package io.gpusharing.webhook;

import io.gpusharing.request.RequestGrammar;
import io.gpusharing.request.VcudaGrammar;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The grammars that configuration can name. */
final class KnownGrammars {

    private static final Map<String, RequestGrammar> BY_NAME =
            Stream.<RequestGrammar>of(new VcudaGrammar())
                    .collect(Collectors.toMap(RequestGrammar::name, Function.identity()));

    private KnownGrammars() {}

    /**
     * The grammars a site has switched on.
     *
     * @throws ConfigurationException if a name is unknown, or nobody reads a resource
     */
    static List<RequestGrammar> named(GpuSharingProperties properties) {
        List<RequestGrammar> grammars =
                properties.grammars().stream().map(KnownGrammars::named).toList();
        properties.resources().stream()
                .map(resource -> resource.replace("*", "x"))
                .filter(resource -> grammars.stream().noneMatch(it -> it.reads(resource)))
                .findFirst()
                .ifPresent(resource -> {
                    throw new ConfigurationException(
                            "gpusharing.resources names %s, which none of the grammars %s reads"
                                    .formatted(resource, properties.grammars()),
                            "Add the grammar that reads it to gpusharing.grammars (known are %s), or take the resource out."
                                    .formatted(new TreeMap<>(BY_NAME).keySet()));
                });
        return grammars;
    }

    private static RequestGrammar named(String name) {
        RequestGrammar grammar = BY_NAME.get(name);
        if (grammar == null) {
            throw new ConfigurationException(
                    "gpusharing.grammars names \"%s\", which does not exist".formatted(name),
                    "Use some of %s.".formatted(new TreeMap<>(BY_NAME).keySet()));
        }
        return grammar;
    }
}
