package io.gpusharing.request.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.testing.Fixture;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds each grammar to the table of fixtures in the folder of its name. */
class GrammarTableTest {

    private static final List<CustomResource> CUSTOM =
            List.of(
                    CustomResource.of("example.com/gpu", 1_000_000),
                    new CustomResource("example.com/slice", new GpuShare(250_000, 500_000)));

    private static final Map<String, RequestGrammars> BY_FOLDER =
            Map.of(
                    "aliyun", RequestGrammars.of(List.of("aliyun"), List.of()),
                    "metagpu", RequestGrammars.of(List.of("metagpu"), List.of()),
                    "nvidia", RequestGrammars.of(List.of("nvidia"), List.of()),
                    "hami", RequestGrammars.of(List.of("hami"), List.of()),
                    "custom", RequestGrammars.of(List.of(), CUSTOM),
                    "mixed",
                            RequestGrammars.of(
                                    List.of("vcuda", "aliyun", "metagpu", "nvidia"), CUSTOM));

    private static final RequestGrammars ALL = RequestGrammars.of(RequestGrammars.names(), CUSTOM);

    /** What a node may report that no grammar reads. */
    private static final NodeFacts SOME_NODE =
            new NodeFacts(Map.of("cpu", Quantity.of(64)), Map.of("zone", "a"), Map.of("x", "y"));

    @ParameterizedTest(name = "{0}")
    @MethodSource("legal")
    void computesBeforeBindingASharesPartThatNoNodeCanChange(Fixture pod) {
        PodRequest request = pod.request();
        RequestGrammar grammar = grammars(pod).grammarOf(request).orElseThrow();

        assertThat(grammars(pod).judge(request)).isEqualTo(new Legal(pod.share("")));
        assertThat(grammar.shareOn(request, NodeFacts.UNKNOWN).rounded())
                .isEqualTo(BoundShare.exact(pod.share("")));
        assertThat(grammar.shareOn(request, SOME_NODE).rounded())
                .isEqualTo(BoundShare.exact(pod.share("")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("legalUntilBound")
    void saysBeforeBindingWhyAShareIsNotYetKnown(Fixture pod) {
        assertThat(grammars(pod).judge(pod.request()))
                .isEqualTo(
                        new LegalUntilBound(
                                pod.share("least"),
                                Objects.toString(pod.expected().get("reason"))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("legalUntilBound")
    void computesTheShareOnEachNodeAndSaysWhatWasAssumed(Fixture pod) {
        PodRequest request = pod.request();
        RequestGrammar grammar = grammars(pod).grammarOf(request).orElseThrow();

        assertThat(pod.nodes())
                .isNotEmpty()
                .allSatisfy(node ->
                        assertThat(grammar.shareOn(request, node.facts()).rounded())
                                .as(node.name())
                                .isEqualTo(node.holds()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("invalid")
    void refusesWithALegalAlternative(Fixture pod) {
        assertThat(grammars(pod).judge(pod.request())).isEqualTo(new Illegal(pod.violations()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("unrelated")
    void leavesOtherPodsAlone(Fixture pod) {
        assertThat(grammars(pod).judge(pod.request())).isEqualTo(new NotOurs());
        assertThat(grammars(pod).grammarOf(pod.request())).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("any")
    void namesItsFixtureAfterItsVerdict(Fixture pod) {
        String verdict = grammars(pod).judge(pod.request()).getClass().getSimpleName();

        assertThat(verdict).isEqualTo(pod.expected().get("verdict"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("readByOne")
    void hasTheSameVerdictWhereEveryGrammarIsOn(Fixture pod) {
        assertThat(ALL.judge(pod.request())).isEqualTo(grammars(pod).judge(pod.request()));
    }

    /** What a provider's own webhook would write after us, or nothing at all. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("any")
    void addsWhatTheProviderWouldAddAndNothingElse(Fixture pod) {
        RequestGrammars grammars = grammars(pod);
        PodRequest request = pod.request();

        assertThat(grammars.completed(request).stamp(grammars::reads))
                .isEqualTo(
                        pod.expected().getOrDefault("completed", request.stamp(grammars::reads)));
    }

    private static RequestGrammars grammars(Fixture pod) {
        String folder = pod.name().substring(0, pod.name().indexOf('/'));
        return Objects.requireNonNull(BY_FOLDER.get(folder));
    }

    static Stream<Fixture> legal() {
        return any().filter(pod -> "Legal".equals(pod.expected().get("verdict")));
    }

    static Stream<Fixture> legalUntilBound() {
        return any().filter(pod -> "LegalUntilBound".equals(pod.expected().get("verdict")));
    }

    static Stream<Fixture> invalid() {
        return any().filter(pod -> pod.name().contains("/invalid-"));
    }

    static Stream<Fixture> unrelated() {
        return any().filter(pod -> pod.name().contains("/unrelated-"));
    }

    /** Except for HAMi's count alone, which is NVIDIA's resource too, until the node decides. */
    static Stream<Fixture> readByOne() {
        return any().filter(pod -> !pod.name().contains("/unrelated-"))
                .filter(pod -> !pod.name().startsWith("hami/") || speaker(pod).equals("hami"));
    }

    private static String speaker(Fixture pod) {
        return ALL.grammarOf(pod.request()).orElseThrow().name();
    }

    static Stream<Fixture> any() {
        return BY_FOLDER.keySet().stream()
                .sorted()
                .flatMap(folder -> Fixture.matching(folder + "/*").stream());
    }
}
