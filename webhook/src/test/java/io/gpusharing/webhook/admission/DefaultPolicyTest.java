package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.policy.PolicyProperties;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.node.ObjectNode;

/** How bypasses of the share are treated where the site has set nothing. */
class DefaultPolicyTest {

    private final Installation installation = new Installation().policy(defaults());

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    {metadata: {annotations: {cdi.k8s.io/mine: nvidia.com/gpu=all}}}          | CDI_ANNOTATION
                    {spec: {volumes: [{name: dev, hostPath: {path: /dev/nvidia0}}]}}          | DEVICE_PATH
                    {spec: {volumes: [{name: dev, hostPath: {path: /run/nvidia/driver/dev}}]}} | DEVICE_PATH
                    {spec: {volumes: [{name: dev, hostPath: {path: /proc/1/root/dev}}]}}      | DEVICE_PATH
                    """)
    void aFractionThatReachesPastTheDevicePluginIsRefused(String more, String rule) {
        Answered answer = installation.create(pod(50, more));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.audit("rules")).isEqualTo(rule);
    }

    @Test
    void aFractionThatSetsVisibleDevicesIsRefused() {
        ObjectNode pod = pod(50, "{}");
        seeAll(pod);

        assertThat(installation.create(pod).audit("rules")).isEqualTo("VISIBLE_DEVICES");
    }

    @Test
    void bypassesInAPodWithWholeGpusAreWarnedOf() {
        ObjectNode pod =
                pod(
                        100,
                        "{metadata: {annotations: {cdi.k8s.io/mine: a}}, spec: {volumes: [{name: dev, hostPath: {path: /dev}}]}}");
        seeAll(pod);

        Answered answer = installation.create(pod);

        assertThat(answer.allowed()).as(answer.message()).isTrue();
        assertThat(answer.warnings()).hasSize(3);
    }

    @Test
    void jupyterHubsPrivilegedInitContainerIsWarnedOfWithTheSettingThatRemovesIt() {
        ObjectNode pod = pod(50, "{}");
        addPrivileged(pod, "block-cloud-metadata");

        Answered answer = installation.create(pod);

        assertThat(answer.allowed()).as(answer.message()).isTrue();
        assertThat(answer.warnings())
                .singleElement()
                .asString()
                .contains("singleuser.cloudMetadata.blockWithIptables=false")
                .doesNotEndWith("…");
    }

    @Test
    void aPrivilegedContainerThatAsksForAPartIsRefused() {
        ObjectNode pod = pod(50, "{}");
        ((ObjectNode) pod.at("/spec/containers/0"))
                .putObject("securityContext")
                .put("privileged", true);

        assertThat(installation.create(pod).audit("rules")).isEqualTo("PRIVILEGED_FRACTION");
    }

    @Test
    void aPrivilegedContainerBesideAFractionWithDevicePathsIsRefused() {
        ObjectNode pod = pod(50, "{spec: {volumes: [{name: dev, hostPath: {path: /dev}}]}}");
        addPrivileged(pod, "helper");

        assertThat(installation.create(pod).audit("rules"))
                .isEqualTo("PRIVILEGED_FRACTION,DEVICE_PATH");
    }

    private static ObjectNode pod(int core, String more) {
        ObjectNode pod = Manifests.halfAGpu();
        pod.withObject("/spec/containers/0/resources/limits").put("tencent.com/vcuda-core", core);
        ObjectNode added = Manifests.yaml(more);
        pod.withObject("/metadata").setAll(added.withObject("/metadata"));
        pod.withObject("/spec").setAll(added.withObject("/spec"));
        return pod;
    }

    private static void seeAll(ObjectNode pod) {
        ((ObjectNode) pod.at("/spec/containers/0"))
                .putArray("env")
                .addObject()
                .put("name", "NVIDIA_VISIBLE_DEVICES")
                .put("value", "all");
    }

    private static void addPrivileged(ObjectNode pod, String name) {
        pod.withObject("/spec")
                .putArray("initContainers")
                .addObject()
                .put("name", name)
                .putObject("securityContext")
                .put("privileged", true);
    }

    private static PolicyProperties defaults() {
        try {
            var environment = new StandardEnvironment();
            new YamlPropertySourceLoader()
                    .load("defaults", new ClassPathResource("application.yaml"))
                    .forEach(environment.getPropertySources()::addLast);
            return new Binder(ConfigurationPropertySources.from(environment.getPropertySources()))
                    .bind("gpusharing.policy", PolicyProperties.class)
                    .get();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
