package io.gpusharing.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.admission.AdmissionProperties;
import io.gpusharing.webhook.cluster.BudgetProperties;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.pod.ClaimProperties;
import io.gpusharing.webhook.pod.ClaimProperties.DriverProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.settings.GrammarConfiguration;
import io.gpusharing.webhook.template.WorkloadProperties;
import io.gpusharing.webhook.template.WorkloadProperties.KindProperties;
import io.gpusharing.webhook.template.WorkloadProperties.PodsProperties;
import io.gpusharing.webhook.tls.TlsProperties;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

/** A setting that cannot be worked with stops the start, and says what to set instead. */
@ExtendWith(OutputCaptureExtension.class)
class SettingsTest {

    @Test
    void theDefaultsAreFine() {
        assertThat(starts("gpusharing.namespace=x")).isTrue();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    gpusharing.policy.node-name=Maybe                  | The following values are valid
                    gpusharing.sidecar.mode=PerNode                    | The following values are valid
                    gpusharing.sidecar.image=                          | must not be blank
                    gpusharing.sidecar.timekeeper-url=http://x         | must begin with https://
                    gpusharing.sidecar.limits.memory=64Mb              | for instance 5m of cpu or 48Mi of memory
                    gpusharing.sidecar.requests.memory=1Gi             | Request at most the limit
                    gpusharing.sidecar.requests.nvidia.com/gpu=1       | cpu and memory alone
                    gpusharing.sidecar.run-as-user=0                   | must be greater than 0
                    gpusharing.classes.over-budget=gpu-in-budget       | Name two classes
                    gpusharing.classes.in-budget=                      | must not be blank
                    gpusharing.budgets.unnamed-namespaces=Free         | The following values are valid
                    gpusharing.admission.timeout=0s                    | API servers wait 1 to 30 seconds
                    gpusharing.admission.max-body=1KB                  | Set 1MB to 64MB
                    gpusharing.admission.max-concurrent=0              | must be greater than 0
                    gpusharing.tls.certificate-validity=300d           | at most a third of it
                    gpusharing.workloads.kinds[0].group=ray.io         | must not be blank
                    gpusharing.default-memory-per-gpu=-1               | must be greater than or equal to 0
                    gpusharing.grammars=cuda                           | There is no grammar "cuda"
                    gpusharing.resources=                              | must not be empty
                    """)
    void anInvalidSettingIsReportedWithWhatToSetInstead(
            String setting, String advice, CapturedOutput output) {
        assertThat(starts(setting)).isFalse();
        assertThat(output).contains("APPLICATION FAILED TO START").contains(advice);
    }

    @Test
    void environmentVariablesOfTheMeterKeepTheirNames() {
        String json = "{\"gpusharing.sidecar.env[NVIDIA_VISIBLE_DEVICES]\":\"all\"}";

        try (var context =
                new SpringApplicationBuilder(Settings.class, GrammarConfiguration.class)
                        .web(WebApplicationType.NONE)
                        .run("--spring.application.json=" + json)) {
            assertThat(context.getBean(SidecarProperties.class).env())
                    .containsExactly(Map.entry("NVIDIA_VISIBLE_DEVICES", "all"));
        }
    }

    @Test
    void kindsOfOperatorsComeAsTheChartWritesThem() {
        String json =
                """
                {"gpusharing.workloads.kinds[0].group":"argoproj.io","gpusharing.workloads.kinds[0].kind":"Workflow",
                 "gpusharing.workloads.kinds[0].pods":[{"containers":["container","script"],"path":"spec.templates[*]"}]}
                """;

        try (var context =
                new SpringApplicationBuilder(Settings.class, GrammarConfiguration.class)
                        .web(WebApplicationType.NONE)
                        .run("--spring.application.json=" + json)) {
            assertThat(context.getBean(WorkloadProperties.class).kinds())
                    .singleElement()
                    .isEqualTo(
                            new KindProperties(
                                    "argoproj.io",
                                    "Workflow",
                                    List.of(
                                            new PodsProperties(
                                                    "spec.templates[*]",
                                                    List.of("container", "script"),
                                                    List.of("spec.initContainers[*]")))));
        }
    }

    @Test
    void driversOfGpusComeAsTheChartWritesThemWithAndWithoutExtendedResources() {
        String json =
                """
                {"gpusharing.claims.drivers[0].name":"gpu.example.com","gpusharing.claims.drivers[0].device-classes[0]":"gpu.example.com",
                 "gpusharing.claims.drivers[1].name":"other.example.com","gpusharing.claims.drivers[1].extended-resources[0]":"example.com/gpu"}
                """;

        try (var context =
                new SpringApplicationBuilder(Settings.class, GrammarConfiguration.class)
                        .web(WebApplicationType.NONE)
                        .run("--spring.application.json=" + json)) {
            assertThat(context.getBean(ClaimProperties.class).drivers())
                    .containsExactly(
                            new DriverProperties("gpu.example.com", List.of()),
                            new DriverProperties("other.example.com", List.of("example.com/gpu")));
        }
    }

    private static boolean starts(String setting) {
        try (var _ =
                new SpringApplicationBuilder(Settings.class, GrammarConfiguration.class)
                        .web(WebApplicationType.NONE)
                        .run("--" + setting)) {
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties({
        AdmissionProperties.class,
        BudgetProperties.class,
        ClaimProperties.class,
        PriorityClassProperties.class,
        PolicyProperties.class,
        SidecarProperties.class,
        TlsProperties.class,
        WorkloadProperties.class
    })
    static class Settings {}
}
