package io.gpusharing.timekeeper.budget.status;

import static io.gpusharing.timekeeper.budget.status.Offered.node;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.CustomResource;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.status.Uncounted.Offer;
import io.gpusharing.timekeeper.cluster.RequestProperties;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class UncountedWatchTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final Logger log = (Logger) LoggerFactory.getLogger(UncountedWatch.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private @Nullable List<Map<String, Quantity>> nodes = List.of();

    @BeforeEach
    void listen() {
        lines.start();
        log.addAppender(lines);
        log.setAdditive(false);
        log.setLevel(Level.INFO);
    }

    @AfterEach
    void stopListening() {
        log.detachAppender(lines);
        log.setLevel(null);
        log.setAdditive(true);
    }

    private UncountedWatch watch(
            List<String> resources, List<String> grammars, Map<String, Long> custom) {
        return new UncountedWatch(
                () -> Optional.ofNullable(nodes),
                RequestGrammars.of(
                        grammars,
                        custom.entrySet().stream()
                                .map(it -> CustomResource.of(it.getKey(), it.getValue()))
                                .toList()),
                new RequestProperties(resources, grammars, custom, Map.of()),
                registry,
                Leadership.alone(),
                new SteppingClock(TEN));
    }

    private UncountedWatch watch(String... grammars) {
        return watch(List.of(), List.of(grammars), Map.of());
    }

    private Map<String, Offer> offers(UncountedWatch watch) {
        watch.work(TEN);
        return watch.present().orElseThrow().offers();
    }

    private List<String> logged() {
        return lines.list.stream()
                .map(line ->
                        line.getLevel()
                                + " "
                                + line.getKeyValuePairs().stream()
                                        .map(it -> it.key + "=" + it.value)
                                        .collect(Collectors.joining(" ")))
                .toList();
    }

    @Test
    void gpusThatNoGrammarReadsAreAddedUpOverTheNodes() {
        nodes =
                List.of(
                        node("nvidia.com/gpu", 8),
                        node("nvidia.com/gpu", 4),
                        node("tencent.com/vcuda-core", 800));

        assertThat(offers(watch("vcuda"))).isEqualTo(Map.of("nvidia.com/gpu", new Offer(2, 12)));
    }

    @Test
    void whatAGrammarOrACustomResourceReadsIsNotReported() {
        nodes = List.of(node("nvidia.com/gpu", 8), node("amd.com/gpu", 8));

        assertThat(offers(watch(List.of(), List.of("hami"), Map.of("amd.com/gpu", 1_000_000L))))
                .isEmpty();
    }

    @Test
    void aResourceThatTheSiteDoesNotListPassesTheWebhookAndIsReported() {
        nodes = List.of(node("nvidia.com/gpu", 8), node("nvidia.com/mig-1g.10gb", 7));

        assertThat(offers(watch(List.of("nvidia.com/gpu"), List.of("nvidia"), Map.of())))
                .containsOnlyKeys("nvidia.com/mig-1g.10gb");
        assertThat(logged()).singleElement().asString().endsWith("advice=add it to gpuResources");
        assertThat(
                        offers(
                                watch(
                                        List.of("nvidia.com/gpu", "nvidia.com/mig-*"),
                                        List.of("nvidia"),
                                        Map.of())))
                .isEmpty();
    }

    @Test
    void aResourceWithoutUnitsIsNotOffered() {
        nodes = List.of(node("nvidia.com/gpu", 0));

        assertThat(offers(watch("vcuda"))).isEmpty();
    }

    @Test
    void uncountedGpusAreReportedAsSoonAsAllNodesAreListed() {
        nodes = null;
        UncountedWatch watch = watch("vcuda");

        assertThat(watch.work(TEN)).isEqualTo(TEN.plusSeconds(1));
        assertThat(watch.present()).isEmpty();
        assertThat(registry.scrape()).doesNotContain("gpusharing_gpus_uncounted{");
    }

    @Test
    void aResourceIsLoggedOnceWithAdviceAndOnceWhenItIsOver() {
        UncountedWatch watch = watch("vcuda");
        nodes = List.of(node("nvidia.com/gpu", 8));
        watch.work(TEN);
        nodes = List.of(node("nvidia.com/gpu", 8), node("nvidia.com/gpu", 8));
        watch.work(TEN.plusSeconds(30));
        nodes = List.of(node("amd.com/gpu", 4));
        watch.work(TEN.plusSeconds(60));

        assertThat(logged())
                .containsExactly(
                        "WARN resource=nvidia.com/gpu nodes=1 units=8 advice=add it to gpuResources"
                                + " and nvidia or hami to grammars, or give the worth of one unit"
                                + " under customResources",
                        "WARN resource=amd.com/gpu nodes=1 units=4 advice=give the worth of one"
                                + " unit under customResources",
                        "INFO resource=nvidia.com/gpu");
    }

    @Test
    void theUnitsAreAGaugeWhileThereAreAny() {
        UncountedWatch watch = watch("vcuda");
        nodes = List.of(node("nvidia.com/gpu", 8), node("nvidia.com/gpu", 4));
        watch.work(TEN);

        assertThat(registry.scrape())
                .contains("gpusharing_gpus_uncounted{resource=\"nvidia.com/gpu\"} 12.0");
        nodes = List.of();
        watch.work(TEN.plusSeconds(30));
        assertThat(registry.scrape()).doesNotContain("gpusharing_gpus_uncounted{");
    }

    @Test
    void namesThatANodeMakesUpMakeNoMoreThanFiftyOneSeries() {
        nodes =
                IntStream.range(0, 60)
                        .mapToObj(i -> node("nvidia.com/mig-%02d".formatted(i), 1))
                        .toList();
        watch("vcuda").work(TEN);

        assertThat(registry.find("gpusharing.gpus.uncounted").gauges()).hasSize(51);
        assertThat(registry.scrape())
                .contains("gpusharing_gpus_uncounted{resource=\"others\"} 10.0");
    }

    @Test
    void listenersAreCalledOnlyWhenSomethingChanges() {
        UncountedWatch watch = watch("vcuda");
        var calls = new AtomicInteger();
        watch.listen(calls::incrementAndGet);
        nodes = List.of(node("nvidia.com/gpu", 8));
        watch.work(TEN);
        watch.work(TEN.plusSeconds(30));

        assertThat(calls).hasValue(1);
    }

    @Test
    void aFormerLeaderShowsNothing() {
        UncountedWatch watch = watch("vcuda");
        nodes = List.of(node("nvidia.com/gpu", 8));
        watch.work(TEN);

        watch.handOver();

        assertThat(watch.present()).isEmpty();
        assertThat(registry.scrape()).doesNotContain("gpusharing_gpus_uncounted{");
    }

    @Test
    void theMessageNamesTenResources() {
        assertThat(Offered.uncounted(List.of()).message()).isEmpty();
        assertThat(
                        Offered.uncounted(
                                        List.of(
                                                node("nvidia.com/gpu", 8),
                                                node("nvidia.com/gpu", 8)))
                                .message())
                .endsWith(": nvidia.com/gpu on 2 nodes");
        nodes =
                IntStream.range(0, 12)
                        .mapToObj(i -> node("nvidia.com/mig-%02d".formatted(i), 1))
                        .toList();
        UncountedWatch watch = watch("vcuda");
        watch.work(TEN);
        assertThat(watch.present().orElseThrow().message())
                .endsWith("nvidia.com/mig-09 on 1 node and 2 more");
    }
}
