package io.gpusharing.request.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.Verdict;
import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.request.Violation;
import io.gpusharing.testing.Fixture;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.testing.YamlFixtures;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

class VcudaGrammarTest {

    /** Two GPUs with 60 blocks of memory each. */
    private static final NodeFacts NODE = node(200, 120);

    private final VcudaGrammar grammar = new VcudaGrammar();

    @ParameterizedTest(name = "{0}")
    @YamlFixtures("vcuda/valid-*")
    void acceptsAndComputesTheShare(Fixture pod) {
        assertThat(grammar.judge(pod.request()).getClass().getSimpleName())
                .isEqualTo(pod.expected().get("verdict"));
        assertThat(grammar.shareOn(pod.request(), NODE).rounded())
                .isEqualTo(
                        new BoundShare(
                                new GpuShare(number(pod, "compute"), number(pod, "memory")), true));
    }

    @ParameterizedTest(name = "{0}")
    @YamlFixtures("vcuda/valid-*")
    void writesTheCeilingWhereAllFractionsAgree(Fixture pod) {
        assertThat(grammar.annotations(pod.request())).isEqualTo(pod.expected().get("annotations"));
    }

    @ParameterizedTest(name = "{0}")
    @YamlFixtures("vcuda/invalid-*")
    void refusesWithALegalAlternative(Fixture pod) {
        assertThat(grammar.judge(pod.request())).isEqualTo(new Illegal(pod.violations()));
    }

    @ParameterizedTest(name = "{0}")
    @YamlFixtures("vcuda/unrelated-*")
    void leavesOtherPodsAlone(Fixture pod) {
        assertThat(grammar.judge(pod.request())).isEqualTo(new NotOurs());
    }

    @Test
    void aMessageNamesContainerFieldValueRuleAndALegalValue() {
        var verdict = (Illegal) grammar.judge(pod(app("cuda", 150, 15)));

        assertThat(verdict.violations())
                .extracting(Violation::message)
                .containsExactly(
                        "container \"cuda\": resources.limits[tencent.com/vcuda-core] is 150: a"
                                + " request is a fraction of one GPU or a number of whole GPUs; use"
                                + " 1..99, 100 or 200");
    }

    @Test
    void beforeBindingTheShareOfAWholeGpuIsExactAndThatOfAFractionIsPartial() {
        assertThat(grammar.judge(pod(app("cuda", 300, 0)))).isEqualTo(new Legal(GpuShare.whole(3)));
        assertThat(grammar.judge(pod(app("cuda", 50, 15))))
                .isEqualTo(
                        new LegalUntilBound(
                                new GpuShare(500_000, 0),
                                "the memory part depends on the size of the node's GPUs"));
    }

    @Test
    void withoutTheNodesSizeAFractionCountsByComputeAloneAndSaysSo() {
        assertThat(grammar.shareOn(pod(app("cuda", 50, 15)), NodeFacts.UNKNOWN))
                .isEqualTo(new BoundShare(new GpuShare(500_000, 0), false));
    }

    @Test
    void warnsOfMoreThanAnyNodeHas() {
        List<NodeFacts> nodes = List.of(NODE, node(100, 90), NodeFacts.UNKNOWN);

        assertThat(grammar.warnings(pod(app("big", 300, 0), app("fat", 10, 91)), nodes))
                .containsExactly(
                        "container \"big\" asks for 3 GPUs; the largest node has 2",
                        "container \"fat\" asks for 91 blocks of GPU memory; the largest GPU has 90");
        assertThat(grammar.warnings(pod(app("fits", 200, 0), app("fits-too", 10, 90)), nodes))
                .isEmpty();
    }

    @Test
    void anEmptyClusterWarnsOfNothing() {
        assertThat(grammar.warnings(pod(app("cuda", 800, 0)), List.of())).isEmpty();
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void theVerdictDoesNotDependOnTheOrderOfAppContainers(long seed) {
        Random random = new Random(seed);
        List<ContainerRequest> containers = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(5); i++) {
            containers.add(app("c" + i, random.nextInt(320) - 10, random.nextInt(70) - 5));
        }
        Verdict before = grammar.judge(new PodRequest(containers));

        Collections.shuffle(containers, random);

        Verdict after = grammar.judge(new PodRequest(containers));
        assertThat(sorted(after)).isEqualTo(sorted(before));
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void anotherContainerNeverMakesAPodCheaper(long seed) {
        Random random = new Random(seed);
        var one = app("one", 1 + random.nextInt(99), 1 + random.nextInt(60));
        var two = app("two", 1 + random.nextInt(99), 1 + random.nextInt(60));

        GpuShare alone = grammar.shareOn(pod(one), NODE).share();
        GpuShare both = grammar.shareOn(pod(one, two), NODE).share();

        assertThat(both).isEqualTo(alone.plus(grammar.shareOn(pod(two), NODE).share()));
    }

    private static Object sorted(Verdict verdict) {
        return verdict instanceof Illegal illegal
                ? illegal.violations().stream().map(Violation::message).sorted().toList()
                : verdict;
    }

    private static long number(Fixture pod, String key) {
        return ((Number) pod.expected().getOrDefault(key, -1)).longValue();
    }

    private static PodRequest pod(ContainerRequest... containers) {
        return new PodRequest(List.of(containers));
    }

    private static ContainerRequest app(String name, long core, long memory) {
        return new ContainerRequest(
                name,
                Kind.App,
                Map.of(
                        VcudaGrammar.CORE, Quantity.of(core),
                        VcudaGrammar.MEMORY, Quantity.of(memory)),
                Map.of());
    }

    private static NodeFacts node(long core, long memory) {
        return new NodeFacts(
                Map.of(
                        VcudaGrammar.CORE, Quantity.of(core),
                        VcudaGrammar.MEMORY, Quantity.of(memory)),
                Map.of());
    }

    /** Of 97 blocks 3, 3, 4 and 4 are 144 329.9 millionths; each by itself would lose one. */
    @Test
    void aPodOfSeveralContainersIsRoundedOnceAndNotEachOfThem() {
        GpuShare held =
                grammar.shareOn(
                                pod(app("a", 1, 3), app("b", 1, 3), app("c", 1, 4), app("d", 1, 4)),
                                node(100, 97))
                        .share();

        assertThat(held.memory()).isEqualTo(144_329);
    }

    /** A GPU of such a node has 60.5 blocks, not 60. */
    @Test
    void theMemoryOfUnlikeGpusIsNotRoundedBeforeItIsDivided() {
        assertThat(grammar.shareOn(pod(app("a", 1, 30)), node(200, 121)).share().memory())
                .isEqualTo(495_867);
    }
}
