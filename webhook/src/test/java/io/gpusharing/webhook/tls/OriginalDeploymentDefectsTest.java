package io.gpusharing.webhook.tls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.webhook.testing.FakeApiServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateParsingException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What was wrong with the manifests of the original project, one test for each defect of the
 * webhook's deployment, named after it. They read the rendered chart and the whole repository.
 */
class OriginalDeploymentDefectsTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final JsonMapper MAPPER = JsonMapper.shared();
    private static final Instant NOW = Instant.parse("2026-03-10T12:00:00Z");

    /** A key of whatever kind in PEM: its first line, and the first line of its content. */
    private static final Pattern PRIVATE_KEY =
            Pattern.compile("-----BEGIN [A-Z ]*PRIVATE KEY-----\\s+[A-Za-z0-9+/]{40,}");

    private static final Set<String> NOT_OURS =
            Set.of("target", ".git", ".bin", ".run", "results", "node_modules");

    /** No file of the repository is larger. */
    private static final long MAX_BYTES = 1 << 20;

    private final List<JsonNode> manifests = manifests();

    @Test
    void defect12_beingInBudgetOutrankedThePodsOfOtherTeams() {
        JsonNode inBudget = priorityClass("gpu-in-budget");
        JsonNode overBudget = priorityClass("gpu-over-budget");

        // As much as a pod without a class, so that it preempts none of those.
        assertThat(inBudget.path("value").asInt(1)).isZero();
        assertThat(overBudget.path("value").asInt()).isNegative();
        assertThat(overBudget.path("preemptionPolicy").asString()).isEqualTo("Never");
        assertThat(kinds("PriorityClass"))
                .noneMatch(it -> it.path("globalDefault").asBoolean(true));
    }

    @Test
    void defect25_aVersionWasDeclaredThatWasNotAnswered() {
        assertThat(all())
                .isNotEmpty()
                .allSatisfy(webhook ->
                        assertThat(texts(webhook.path("admissionReviewVersions")))
                                .containsExactly("v1"));
    }

    @Test
    void defect51_theAuthoritysKeyAndOneTlsSecretForAllInstallationsWereCommitted()
            throws IOException {
        assertThat(kinds("Secret"))
                .noneMatch(secret -> secret.has("data") || secret.has("stringData"));
        try (Stream<Path> files = Files.walk(ROOT)) {
            assertThat(
                            files.filter(OriginalDeploymentDefectsTest::isOurs)
                                    .filter(file -> PRIVATE_KEY.matcher(text(file)).find()))
                    .isEmpty();
        }
    }

    @Test
    void defect52_theCertificateHadNoSubjectAlternativeName() throws CertificateParsingException {
        JsonNode service =
                webhooks("MutatingWebhookConfiguration").getFirst().at("/clientConfig/service");
        String name = service.path("name").asString();
        String namespace = service.path("namespace").asString();

        var leaf =
                CertificateAuthority.create("test", NOW, Duration.ofDays(365))
                        .issue(
                                ServingCertificate.names(name, namespace, List.of("127.0.0.1")),
                                NOW,
                                Duration.ofDays(7))
                        .certificate();

        // What an API server looks for when it calls a Service.
        assertThat(leaf.getSubjectAlternativeNames().stream().map(it -> it.get(1).toString()))
                .contains("gpusharing-webhook.gpusharing-system.svc", "127.0.0.1");
    }

    @Test
    void defect53_theCaBundleWasWrittenIntoTheManifestsForEver() {
        List<JsonNode> shipped = all();
        assertThat(shipped).isNotEmpty();
        assertThat(shipped).noneMatch(webhook -> webhook.path("clientConfig").has("caBundle"));

        try (var api = new FakeApiServer();
                var client = api.client()) {
            for (String kind : List.of("Mutating", "Validating")) {
                api.put(path(kind), kinds(kind + "WebhookConfiguration").getFirst().toString());
            }
            for (String authority : List.of("first", "renewed")) {
                String bundle =
                        Pem.of(
                                CertificateAuthority.create(authority, NOW, Duration.ofDays(1))
                                        .certificate());
                new CaBundles(client, "gpusharing-webhook").write(bundle);

                for (String kind : List.of("Mutating", "Validating")) {
                    assertThat(bundles(Objects.requireNonNull(api.get(path(kind)))))
                            .as(authority)
                            .isNotEmpty()
                            .containsOnly(
                                    Base64.getEncoder().encodeToString(bundle.getBytes(UTF_8)));
                }
            }
        }
    }

    @Test
    void defect54_kubeSystemWasExcludedByALabelThatNobodySets() {
        for (JsonNode webhook : all()) {
            // Grants lie in no namespace; without a scope, a rule applies to both.
            if (!webhook.at("/rules/0/scope").asString("*").equals("Cluster")) {
                JsonNode expression = webhook.at("/namespaceSelector/matchExpressions/0");
                // The control plane sets this one on every namespace, and nobody can change it.
                assertThat(expression.path("key").asString())
                        .isEqualTo("kubernetes.io/metadata.name");
                assertThat(expression.path("operator").asString()).isEqualTo("NotIn");
                assertThat(expression.path("values").valueStream().map(JsonNode::asString))
                        .contains("kube-system", "gpusharing-system");
            }
        }
    }

    @Test
    void defect55_oneCrashOfTheOneReplicaStoppedAllPodsForThirtySecondsEach() {
        JsonNode deployment = webhookDeployment();
        assertThat(deployment.at("/spec/replicas").asInt()).isGreaterThanOrEqualTo(2);
        assertThat(deployment.at("/spec/strategy/rollingUpdate/maxUnavailable").asInt(1)).isZero();
        assertThat(deployment.at("/spec/template/spec/topologySpreadConstraints").size())
                .isPositive();
        assertThat(kinds("PodDisruptionBudget"))
                .anyMatch(budget ->
                        budget.at("/spec/selector/matchLabels")
                                .equals(deployment.at("/spec/selector/matchLabels")));
        for (JsonNode webhook : all()) {
            assertThat(webhook.path("timeoutSeconds").asInt()).isBetween(1, 3);
        }
        // Only pods that ask for GPUs are refused while nobody answers; templates are let through.
        assertThat(webhooks("ValidatingWebhookConfiguration"))
                .allMatch(webhook -> webhook.path("failurePolicy").asString().equals("Ignore"));
    }

    @Test
    void defect56_podsWithoutGpusAndForeignKindsOfTheSameNameWereSent() {
        for (JsonNode webhook : all()) {
            for (JsonNode rule : webhook.path("rules")) {
                for (String field :
                        List.of("apiGroups", "apiVersions", "operations", "resources")) {
                    assertThat(rule.path(field).valueStream().map(JsonNode::asString))
                            .as(field)
                            .isNotEmpty()
                            .noneMatch(value -> value.contains("*"));
                }
            }
        }
        assertThat(conditions(webhooks("MutatingWebhookConfiguration").getFirst()))
                .contains("asks-for-gpus");
        assertThat(conditions(webhooks("ValidatingWebhookConfiguration").getFirst()))
                .contains("asks-for-gpus-anew");
        JsonNode container = webhookDeployment().at("/spec/template/spec/containers/0");
        for (String resource : variable(container, "GPUSHARING_RESOURCES").split(",", -1)) {
            String name = resource.replace("*", "");
            for (String kind :
                    List.of("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")) {
                assertThat(webhooks(kind))
                        .as("%s asks for %s", kind, name)
                        .anyMatch(it -> it.path("matchConditions").toString().contains(name));
            }
        }
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(container.path(probe).path("periodSeconds").asInt(0)).as(probe).isPositive();
        }
    }

    @Test
    void defect60_theWebhookMightCreateAndDeleteEveryJobOfTheCluster() {
        List<String> bound =
                Stream.of("ClusterRoleBinding", "RoleBinding")
                        .flatMap(kind -> kinds(kind).stream())
                        .filter(binding ->
                                binding.path("subjects")
                                        .valueStream()
                                        .anyMatch(it ->
                                                it.path("name")
                                                        .asString()
                                                        .equals("gpusharing-webhook")))
                        .map(binding -> binding.at("/roleRef/name").asString())
                        .toList();
        List<JsonNode> roles =
                Stream.of("ClusterRole", "Role")
                        .flatMap(kind -> kinds(kind).stream())
                        .filter(role -> bound.contains(role.at("/metadata/name").asString()))
                        .toList();
        List<JsonNode> rules =
                roles.stream().flatMap(role -> role.path("rules").valueStream()).toList();

        // Not one that the cluster has by itself.
        assertThat(roles.stream().map(role -> role.at("/metadata/name").asString()))
                .containsAll(bound);
        assertThat(rules).isNotEmpty();
        for (JsonNode rule : rules) {
            List<String> resources = texts(rule.path("resources"));
            assertThat(resources).noneMatch(resource -> resource.contains("*"));
            assertThat(texts(rule.path("verbs"))).noneMatch(verb -> verb.contains("*"));
            if (resources.contains("jobs") || resources.contains("replicasets")) {
                assertThat(texts(rule.path("verbs"))).containsExactly("get");
            }
        }
    }

    private List<JsonNode> all() {
        return Stream.of("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
                .flatMap(kind -> webhooks(kind).stream())
                .toList();
    }

    private List<JsonNode> webhooks(String kind) {
        return kinds(kind).stream()
                .flatMap(configuration -> configuration.path("webhooks").valueStream())
                .toList();
    }

    private JsonNode webhookDeployment() {
        return kinds("Deployment").stream()
                .filter(it -> it.at("/metadata/name").asString().equals("gpusharing-webhook"))
                .findFirst()
                .orElseThrow();
    }

    private JsonNode priorityClass(String name) {
        return kinds("PriorityClass").stream()
                .filter(it -> it.at("/metadata/name").asString().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static String variable(JsonNode container, String name) {
        return container
                .path("env")
                .valueStream()
                .filter(it -> it.path("name").asString().equals(name))
                .map(it -> it.path("value").asString())
                .findFirst()
                .orElseThrow();
    }

    private static List<String> bundles(JsonNode configuration) {
        return configuration
                .path("webhooks")
                .valueStream()
                .map(it -> it.at("/clientConfig/caBundle").asString(""))
                .toList();
    }

    private List<JsonNode> kinds(String kind) {
        return manifests.stream()
                .filter(manifest -> manifest.path("kind").asString("").equals(kind))
                .toList();
    }

    private static List<String> conditions(JsonNode webhook) {
        return webhook.path("matchConditions")
                .valueStream()
                .map(it -> it.path("name").asString())
                .toList();
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asString).toList();
    }

    private static String path(String kind) {
        return "/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations/gpusharing-webhook"
                .formatted(kind.toLowerCase(Locale.ROOT));
    }

    private static List<JsonNode> manifests() {
        var manifests = new ArrayList<JsonNode>();
        try (Stream<Path> files = Files.list(ROOT.resolve("deployment"))) {
            for (Path file : files.filter(it -> it.toString().endsWith(".yaml")).toList()) {
                for (Object document : new Yaml().loadAll(Files.readString(file))) {
                    if (document instanceof Map<?, ?> manifest) {
                        manifests.add(MAPPER.valueToTree(manifest));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return manifests;
    }

    private static boolean isOurs(Path file) {
        for (Path part : ROOT.relativize(file)) {
            if (NOT_OURS.contains(part.toString())) {
                return false;
            }
        }
        try {
            return Files.isRegularFile(file) && Files.size(file) <= MAX_BYTES;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whatever a file is, a key in it is ASCII. */
    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
