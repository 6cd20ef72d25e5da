package io.gpusharing.e2e.installation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Our services write in objects that Helm applies. Who writes a field owns it, and Helm 4 is
 * refused what others own.
 */
class HelmIT {

    private static final String SCHEDULER = "gpusharing-scheduler";
    private static final String IMAGE = "scheduler.kubeScheduler.image=";
    private static final String REGISTRY = "registry.k8s.io/kube-scheduler";

    /** A version that no API server bears, so that it is changed at once. */
    private static final String OLD = REGISTRY + ":v1.20.0";

    private static final String CLAIMS = "claims.gpusharing.io";

    /**
     * The newer one is built for all tests, the older one where it is asked for ({@code tools/build
     * helm-3}).
     */
    @ParameterizedTest(name = "installed by {0}, upgraded by {1}")
    @CsvSource({"helm, helm", "helm-3, helm-3", "helm-3, helm"})
    void aReleaseIsUpgradedAndRolledBackWhateverItsServicesHaveWritten(
            String installs, String upgrades) {
        for (String program : List.of(installs, upgrades)) {
            assumeTrue(Files.isExecutable(Repository.tool(program)), program + " is not built");
        }
        Path run = Repository.root().resolve(".run/" + installs + "-" + upgrades);
        try (var cluster = TestCluster.start(run)) {
            var release = new Release(cluster, Repository.tool(upgrades));
            String own = REGISTRY + ":" + cluster.client().getKubernetesVersion().getGitVersion();

            new Release(cluster, Repository.tool(installs))
                    .helm(
                            "install",
                            "helm/gpusharing",
                            "--create-namespace",
                            "--set=" + IMAGE + OLD,
                            "--set-json=gpuDrivers=[{\"name\":\"gpu.example.com\",\"deviceClasses\":[\"gpu.example.com\"]}]");
            release.letServicesWrite(own);

            release.upgrade("--set=timekeeper.podAnnotations.changed=yes");
            assertThat(release.kubeScheduler()).as("what the extender chose").isEqualTo(own);
            assertThat(release.webhooks())
                    .as("what the webhook has written")
                    .allMatch(webhook -> webhook.getClientConfig().getCaBundle() != null);

            release.upgrade("--set-json=gpuDrivers=[]");
            assertThat(release.webhooks())
                    .extracting(MutatingWebhook::getName)
                    .isNotEmpty()
                    .doesNotContain(CLAIMS);

            release.upgrade("--set=" + IMAGE + own.replace("registry.k8s.io", "example.com"));
            assertThat(release.kubeScheduler()).startsWith("example.com/kube-scheduler:");

            release.helm("rollback", "1");
            assertThat(release.kubeScheduler()).isEqualTo(OLD);
            assertThat(release.webhooks()).extracting(MutatingWebhook::getName).contains(CLAIMS);

            release.upgrade(
                    "--set=" + IMAGE + REGISTRY,
                    "--set=scheduler.kubeScheduler.followVersion=false");
            assertThat(release.kubeScheduler()).as("the cluster's version").isEqualTo(own);

            release.upgrade("--set=scheduler.mode=None");
            assertThat(release.deployment().getSpec().getTemplate().getSpec().getContainers())
                    .extracting(Container::getName)
                    .containsExactly("extender");
        }
    }

    private record Release(TestCluster cluster, Path program) {

        /** Runs it, where anything but success is a defect. */
        void helm(String verb, String... arguments) {
            var command = new ArrayList<String>();
            command.addAll(List.of(program.toString(), verb, "gpusharing"));
            command.addAll(List.of(arguments));
            command.add("--namespace=" + Installation.NAMESPACE);
            command.add("--kubeconfig=" + cluster.kubeconfig());
            try {
                Process process =
                        new ProcessBuilder(command)
                                .directory(Repository.root().toFile())
                                .redirectErrorStream(true)
                                .start();
                String said = new String(process.getInputStream().readAllBytes(), UTF_8);
                assertThat(process.waitFor()).as("%s: %s", command, said).isZero();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        void upgrade(String... values) {
            var arguments =
                    new ArrayList<>(List.of("helm/gpusharing", "--reset-then-reuse-values"));
            arguments.addAll(List.of(values));
            helm("upgrade", arguments.toArray(String[]::new));
        }

        Deployment deployment() {
            return cluster.client()
                    .apps()
                    .deployments()
                    .inNamespace(Installation.NAMESPACE)
                    .withName(SCHEDULER)
                    .require();
        }

        String kubeScheduler() {
            return deployment().getSpec().getTemplate().getSpec().getContainers().stream()
                    .filter(container -> container.getName().equals("kube-scheduler"))
                    .map(Container::getImage)
                    .findFirst()
                    .orElseThrow();
        }

        List<MutatingWebhook> webhooks() {
            return cluster.client()
                    .admissionRegistration()
                    .v1()
                    .mutatingWebhookConfigurations()
                    .withName("gpusharing-webhook")
                    .require()
                    .getWebhooks();
        }

        /** Starts both, with the rights that the chart gives them, and stops them afterwards. */
        void letServicesWrite(String image) {
            List<Integer> ports = Ports.free(4);
            var webhook =
                    Service.start(
                            cluster,
                            "webhook",
                            Installation.webhookTemplate(cluster),
                            ports.get(0),
                            ports.get(1),
                            Map.of());
            var scheduler =
                    Service.start(
                            cluster,
                            "scheduler",
                            "follower",
                            "extender",
                            deployment().getSpec().getTemplate(),
                            ports.get(2),
                            ports.get(3),
                            Map.of("GPUSHARING_SCHEDULER_EXPLANATIONS_PORT", "0"));
            await("both have written, and the tag is nobody's")
                    .atMost(Duration.ofSeconds(90))
                    .untilAsserted(() -> {
                        assertThat(kubeScheduler()).isEqualTo(image);
                        assertThat(webhooks())
                                .allMatch(it -> it.getClientConfig().getCaBundle() != null);
                        assertThat(owners()).contains("helm").doesNotContain("fabric8");
                    });
            scheduler.program().stop();
            webhook.program().stop();
        }

        private String owners() {
            return cluster.kubectl()
                    .run(
                            "get",
                            "deployments/" + SCHEDULER,
                            "--namespace=" + Installation.NAMESPACE,
                            "--show-managed-fields",
                            "-o=jsonpath={.metadata.managedFields[*].manager}")
                    .orFail();
        }
    }
}
