package io.gpusharing.e2e.installation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The rendered chart of {@code deployment/}, with one thing changed: where the API server finds the
 * webhook.
 */
final class Manifests {

    private static final YAMLMapper YAML = new YAMLMapper();

    private Manifests() {}

    /**
     * Copies every file of {@code deployment/}.
     *
     * @param target a folder that does not exist yet
     * @param webhook base URL that takes the place of the reference to our Service
     */
    static void writeTo(Path target, URI webhook) {
        try (var files = Files.list(Repository.root().resolve("deployment"))) {
            Files.createDirectory(target);
            for (Path file : files.filter(f -> f.toString().endsWith(".yaml")).sorted().toList()) {
                List<JsonNode> documents = documents(file);
                documents.forEach(document -> pointAt(webhook, document));
                write(target.resolve(file.getFileName()), documents);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * One template of the chart with another value than in {@code deployment/}, for the version of
     * this cluster, as {@code helm upgrade} knows it.
     */
    static String rendered(TestCluster cluster, String value, String template) {
        try {
            var helm =
                    new ProcessBuilder(
                                    Repository.tool("helm").toString(),
                                    "template",
                                    "gpusharing",
                                    "helm/gpusharing",
                                    "--namespace=" + Installation.NAMESPACE,
                                    "--kube-version="
                                            + cluster.client()
                                                    .getKubernetesVersion()
                                                    .getGitVersion(),
                                    "--set=" + value,
                                    "--show-only=templates/" + template)
                            .directory(Repository.root().toFile())
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            return new String(helm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("helm cannot be run", e);
        }
    }

    /** The one Deployment of a template of the chart, with another value. */
    static Deployment deployment(TestCluster cluster, String value, String template) {
        var manifests =
                new ByteArrayInputStream(
                        rendered(cluster, value, template).getBytes(StandardCharsets.UTF_8));
        return cluster.client().load(manifests).items().stream()
                .filter(Deployment.class::isInstance)
                .map(Deployment.class::cast)
                .findFirst()
                .orElseThrow(() ->
                        new IllegalStateException(
                                "%s has no Deployment with %s".formatted(template, value)));
    }

    private static List<JsonNode> documents(Path file) throws IOException {
        try (var parser = new YAMLFactory().createParser(file.toFile())) {
            return YAML.readValues(parser, JsonNode.class).readAll().stream()
                    .filter(JsonNode::isObject)
                    .toList();
        }
    }

    private static void write(Path file, List<JsonNode> documents) throws IOException {
        var text = new StringBuilder();
        for (JsonNode document : documents) {
            text.append(YAML.writeValueAsString(document));
        }
        // kubectl refuses a file without an object in it, but comments alone are none too.
        Files.writeString(file, text.isEmpty() ? "# nothing\n" : text.toString());
    }

    private static void pointAt(URI webhook, JsonNode document) {
        for (JsonNode entry : document.path("webhooks")) {
            if (entry.path("clientConfig") instanceof ObjectNode config && config.has("service")) {
                String path = config.remove("service").path("path").asText();
                config.put("url", webhook.resolve(path).toString());
            }
        }
    }
}
