package io.gpusharing.webhook.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** The grammars as an installation configures them. */
class GrammarsTest {

    /** As the chart renders {@code customResources}. */
    private static final String OWN =
            "{\"gpusharing.custom-resources[amd.com/gpu]\":1000000,\"gpusharing.custom-resources[example.com/slice]\":250000}";

    @Test
    void theSitesOwnResourcesComeAsTheChartWritesThem() {
        RequestGrammars grammars =
                grammars("amd.com/gpu,example.com/slice", "", "--spring.application.json=" + OWN);

        assertThat(grammars.judge(asking("amd.com/gpu", 2)))
                .isEqualTo(new Legal(new GpuShare(2_000_000, 2_000_000)));
        assertThat(grammars.judge(asking("example.com/slice", 3)))
                .isEqualTo(new Legal(new GpuShare(750_000, 750_000)));
    }

    @Test
    void soDoTheUnitsOfMetagpu() {
        RequestGrammars grammars =
                grammars(
                        "cnvrg.io/metagpu,example.com/third",
                        "metagpu",
                        "--spring.application.json={\"gpusharing.metagpu-units[cnvrg.io/metagpu]\":2,\"gpusharing.metagpu-units[example.com/third]\":3}");

        assertThat(grammars.judge(asking("cnvrg.io/metagpu", 1)))
                .isEqualTo(new Legal(new GpuShare(500_000, 500_000)));
        assertThat(grammars.judge(asking("example.com/third", 3)))
                .isEqualTo(new Legal(GpuShare.whole(1)));
    }

    @Test
    void aResourceThatNoGrammarReadsStopsTheStartWithAdvice() {
        assertThatThrownBy(() -> grammars("amd.com/gpu", "vcuda"))
                .hasStackTraceContaining("amd.com/gpu, which none of the grammars [vcuda] reads");
    }

    private static RequestGrammars grammars(String resources, String names, String... more) {
        try (var context =
                new SpringApplicationBuilder(GrammarConfiguration.class)
                        .web(WebApplicationType.NONE)
                        .run(
                                Stream.concat(
                                                Stream.of(
                                                        "--gpusharing.resources=" + resources,
                                                        "--gpusharing.grammars=" + names),
                                                Arrays.stream(more))
                                        .toArray(String[]::new))) {
            return context.getBean(RequestGrammars.class);
        }
    }

    private static PodRequest asking(String resource, long units) {
        return new PodRequest(
                List.of(
                        new ContainerRequest(
                                "c", Kind.App, Map.of(resource, Quantity.of(units)), Map.of())));
    }
}
