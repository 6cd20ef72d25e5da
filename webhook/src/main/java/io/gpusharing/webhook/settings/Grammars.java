package io.gpusharing.webhook.settings;

import io.gpusharing.request.grammar.CustomResource;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.RequestGrammars;

/** The ways of asking that a site has configured. */
final class Grammars {

    private Grammars() {}

    /**
     * @throws ConfigurationException if they cannot be, or do not read a resource that asks for
     *     GPUs
     */
    static RequestGrammars of(GpuSharingProperties properties) {
        RequestGrammars grammars = chosen(properties);
        properties.resources().stream()
                .filter(resource -> !grammars.reads(resource) && !resource.endsWith("*"))
                .findFirst()
                .ifPresent(resource -> {
                    throw new ConfigurationException(
                            "gpusharing.resources names %s, which none of the grammars %s reads"
                                    .formatted(resource, properties.grammars()),
                            "Add the grammar that reads it to gpusharing.grammars (known are %s), describe it under gpusharing.custom-resources, or take it out."
                                    .formatted(RequestGrammars.names()));
                });
        return grammars;
    }

    private static RequestGrammars chosen(GpuSharingProperties properties) {
        try {
            return RequestGrammars.of(
                    properties.grammars(),
                    new GrammarSettings(
                            properties.customResources().entrySet().stream()
                                    .map(it -> CustomResource.of(it.getKey(), it.getValue()))
                                    .toList(),
                            properties.metagpuUnits(),
                            properties.defaultMemoryPerGpu(),
                            properties.hamiDefaultGpus()));
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(
                    String.valueOf(e.getMessage()),
                    "Correct gpusharing.grammars, gpusharing.custom-resources or gpusharing.metagpu-units.");
        }
    }
}
