package io.gpusharing.request.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.request.Verdict;
import io.gpusharing.request.Verdict.LegalUntilBound;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestGrammarsTest {

    @Test
    void readsWhatTheNamedGrammarsAndTheSitesOwnResourcesRead() {
        var grammars =
                RequestGrammars.of(
                        List.of("vcuda", "nvidia"), List.of(CustomResource.of("amd.com/gpu", 1)));

        assertThat(
                        List.of(
                                "tencent.com/vcuda-core",
                                "tencent.com/vcuda-memory",
                                "nvidia.com/gpu",
                                "nvidia.com/gpu.shared",
                                "nvidia.com/mig-1g.5gb",
                                "amd.com/gpu"))
                .allMatch(grammars::reads);
        assertThat(List.of("cpu", "memory", "cnvrg.io/metagpu", "nvidia.com/gpumem", "gpu"))
                .noneMatch(grammars::reads);
    }

    @Test
    void everyNameGivesTheGrammarOfThatName() {
        assertThat(RequestGrammars.names())
                .containsExactly("vcuda", "aliyun", "metagpu", "nvidia", "hami");
        assertThat(speaker("vcuda", VcudaGrammar.CORE)).isEqualTo("vcuda");
        assertThat(speaker("aliyun", AliyunGrammar.MEMORY)).isEqualTo("aliyun");
        assertThat(speaker("metagpu", MetagpuGrammar.SHARES)).isEqualTo("metagpu");
        assertThat(speaker("nvidia", NvidiaGrammar.GPU)).isEqualTo("nvidia");
        assertThat(speaker("hami", HamiGrammar.COUNT)).isEqualTo("hami");
    }

    @Test
    void aSiteMaySayWhichPluginGivesNvidiaGpu() {
        PodRequest pod = pod("nvidia.com/gpu", 1);

        assertThat(RequestGrammars.of(List.of("nvidia"), List.of()).judge(pod))
                .isInstanceOf(LegalUntilBound.class);
        assertThat(RequestGrammars.of(List.of("hami"), List.of()).judge(pod))
                .isEqualTo(new Verdict.Legal(GpuShare.whole(1)));
    }

    @Test
    void withoutThatSettingThePodAndItsNodeDecideThePlugin() {
        RequestGrammars all = RequestGrammars.of(RequestGrammars.names(), List.of());
        PodRequest gpu = pod("nvidia.com/gpu", 1);
        RequestGrammar nvidia = all.grammarOf(gpu).orElseThrow();
        var divided = Map.of("nvidia.com/gpu.replicas", "4");
        var hamis = Map.of(NodeFacts.HAMI_REGISTER, "GPU-0,10,16384,100,A16,0,true:");

        assertThat(nvidia.name()).isEqualTo("nvidia");
        assertThat(nvidia.shareOn(gpu, new NodeFacts(Map.of(), divided)).share())
                .isEqualTo(new GpuShare(250_000, 250_000));
        assertThat(nvidia.shareOn(gpu, new NodeFacts(Map.of(), divided, hamis)))
                .isEqualTo(BoundShare.exact(GpuShare.whole(1)));
        assertThat(all.judge(pod("nvidia.com/gpumem", 4096)))
                .isEqualTo(
                        RequestGrammars.of(List.of("hami"), List.of())
                                .judge(pod("nvidia.com/gpumem", 4096)));
    }

    @Test
    void anUnknownNameIsAnsweredWithTheKnownNames() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RequestGrammars.of(List.of("vcuda", "nvida"), List.of()))
                .withMessage(
                        "There is no grammar \"nvida\"; the known ones are vcuda, aliyun, metagpu,"
                                + " nvidia, hami");
    }

    @Test
    void aCustomResourceHasNoOtherReader() {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        RequestGrammars.of(
                                List.of("nvidia"),
                                List.of(CustomResource.of("nvidia.com/mig-1g.5gb", 1))))
                .withMessage(
                        "The custom resource nvidia.com/mig-1g.5gb is already read by the grammar"
                                + " nvidia; remove one of the two");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RequestGrammars.of(List.of("vcuda", "vcuda"), List.of()))
                .withMessageContaining("named twice");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        RequestGrammars.of(
                                List.of(),
                                List.of(
                                        CustomResource.of("amd.com/gpu", 1),
                                        CustomResource.of("amd.com/gpu", 2))))
                .withMessageContaining("amd.com/gpu is given twice");
    }

    @Test
    void anEmptyListOfGrammarsIsAnError() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RequestGrammars.of(List.of(), List.of()))
                .withMessageContaining("name at least one of vcuda");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "gpu", "/gpu", "amd.com/", "kubernetes.io/gpu", "x.kubernetes.io/g"})
    void aCustomResourceHasADomainOfItsOwn(String resource) {
        assertThatIllegalArgumentException().isThrownBy(() -> CustomResource.of(resource, 1));
    }

    @Test
    void aCustomUnitIsWorthSomethingWithinReason() {
        assertThatIllegalArgumentException().isThrownBy(() -> CustomResource.of("a.b/c", 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CustomResource.of("a.b/c", 1_000_000_000_001L));
    }

    @Test
    void warnsOfMoreThanTheLargestNodeHas() {
        List<NodeFacts> nodes = List.of(capacity(Map.of(MetagpuGrammar.SHARES, 400L)));

        assertThat(new MetagpuGrammar().warnings(pod(MetagpuGrammar.SHARES, 500), nodes))
                .containsExactly(
                        "container \"cuda\" asks for 500 cnvrg.io/metagpu; the largest node has 400");
        assertThat(new MetagpuGrammar().warnings(pod(MetagpuGrammar.SHARES, 400), nodes)).isEmpty();
        assertThat(new MetagpuGrammar().warnings(pod(MetagpuGrammar.SHARES, 500), List.of()))
                .isEmpty();
    }

    @Test
    void warnsOfWhatGpushareDoesNotServe() {
        var nodes = List.of(capacity(Map.of(AliyunGrammar.MEMORY, 32L, AliyunGrammar.COUNT, 2L)));
        var pod =
                new PodRequest(
                        List.of(
                                container("a", Kind.App, AliyunGrammar.MEMORY, 17),
                                container("b", Kind.App, AliyunGrammar.MEMORY, 2),
                                container("c", Kind.Init, AliyunGrammar.MEMORY, 2)));

        assertThat(new AliyunGrammar().warnings(pod, nodes))
                .containsExactly(
                        "container \"a\" asks for 17 of GPU memory; the largest GPU has 16",
                        "container \"b\": gpushare serves one app container of a pod",
                        "container \"c\": gpushare serves one app container of a pod");
        assertThat(new AliyunGrammar().warnings(pod(AliyunGrammar.MEMORY, 16), nodes)).isEmpty();
    }

    @Test
    void warnsThatMoreReplicasAreNotFaster() {
        assertThat(new NvidiaGrammar().warnings(pod(NvidiaGrammar.SHARED_GPU, 2), List.of()))
                .containsExactly(
                        "container \"cuda\": two replicas of a GPU are not faster than one");
        assertThat(new NvidiaGrammar().warnings(pod(NvidiaGrammar.SHARED_GPU, 1), List.of()))
                .isEmpty();
    }

    @Test
    void warnsOfMoreThanHamisLargestGpusHave() {
        var node =
                new NodeFacts(
                        Map.of(HamiGrammar.COUNT, Quantity.of(20)),
                        Map.of(),
                        Map.of(
                                "hami.io/node-nvidia-register",
                                "[{\"devmem\":16384},{\"devmem\":16384}]"));
        var pod =
                new PodRequest(
                        List.of(
                                container("many", Kind.App, HamiGrammar.COUNT, 3),
                                container("much", Kind.App, HamiGrammar.MEMORY, 20_000)));

        assertThat(new HamiGrammar().warnings(pod, List.of(node)))
                .containsExactly(
                        "container \"many\" asks for 3 GPUs; the largest node has 2",
                        "container \"much\" asks for 20000 MiB of GPU memory; the largest GPU has"
                                + " 16384");
    }

    @Test
    void whatFitsOnTheLargestOfHamisGpusIsNotWarnedOf() {
        var node =
                new NodeFacts(
                        Map.of(HamiGrammar.COUNT, Quantity.of(20)),
                        Map.of(),
                        Map.of(
                                "hami.io/node-nvidia-register",
                                "[{\"devmem\":16384},{\"devmem\":81920}]"));

        assertThat(
                        new HamiGrammar()
                                .warnings(
                                        new PodRequest(
                                                List.of(
                                                        container(
                                                                "large",
                                                                Kind.App,
                                                                HamiGrammar.MEMORY,
                                                                81_920))),
                                        List.of(node)))
                .isEmpty();
    }

    @Test
    void aMetagpuSiteMayCutItsGpusDifferentlyAndUnderSeveralNames() {
        String third = "example.com/third";
        var metagpu = new MetagpuGrammar(Map.of(MetagpuGrammar.SHARES, 2, third, 3));
        var both = container("cuda", Kind.App, MetagpuGrammar.SHARES, 1);

        assertThat(metagpu.judge(pod(MetagpuGrammar.SHARES, 1)))
                .isEqualTo(new Verdict.Legal(new GpuShare(500_000, 500_000)));
        assertThat(metagpu.judge(pod(third, 3))).isEqualTo(new Verdict.Legal(GpuShare.whole(1)));
        assertThat(metagpu.asksForAPart(pod(third, 3))).isFalse();
        assertThat(
                        metagpu.shareOn(
                                        new PodRequest(
                                                List.of(both, container("b", Kind.App, third, 1))),
                                        NodeFacts.UNKNOWN)
                                .share()
                                .compute())
                .isEqualTo(833_333);
        assertThat(metagpu.judge(pod("cnvrg.io/other", 1))).isEqualTo(new Verdict.NotOurs());
        assertThat(new MetagpuGrammar(Map.of(third, 3)).judge(pod(MetagpuGrammar.SHARES, 50)))
                .as("where nothing is said of it")
                .isEqualTo(new Verdict.Legal(new GpuShare(500_000, 500_000)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MetagpuGrammar(Map.of(third, 0)))
                .withMessage("A GPU has at least one unit of example.com/third, not 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        RequestGrammars.of(
                                List.of("metagpu", "nvidia"),
                                new GrammarSettings(List.of(), Map.of("nvidia.com/gpu", 10))))
                .withMessage(
                        "nvidia.com/gpu is read by the grammar nvidia and cannot be a resource of metagpu, too");
    }

    @Test
    void onlyVcudaNeedsAnnotations() {
        for (String name : List.of("aliyun", "metagpu", "nvidia", "hami")) {
            var pod = new ArrayList<ContainerRequest>();
            pod.add(container("cuda", Kind.App, resource(name), 1));
            var grammars = RequestGrammars.of(List.of(name), List.of());

            assertThat(grammars.grammarOf(new PodRequest(pod)).orElseThrow().annotations(pod(name)))
                    .isEmpty();
        }
    }

    private static PodRequest pod(String grammar) {
        return pod(resource(grammar), 1);
    }

    private static String resource(String grammar) {
        return switch (grammar) {
            case "aliyun" -> AliyunGrammar.MEMORY;
            case "metagpu" -> MetagpuGrammar.SHARES;
            default -> NvidiaGrammar.GPU;
        };
    }

    private static String speaker(String name, String resource) {
        return RequestGrammars.of(List.of(name), List.of())
                .grammarOf(pod(resource, 1))
                .orElseThrow()
                .name();
    }

    private static PodRequest pod(String resource, long units) {
        return new PodRequest(List.of(container("cuda", Kind.App, resource, units)));
    }

    private static ContainerRequest container(String name, Kind kind, String resource, long units) {
        return new ContainerRequest(name, kind, Map.of(resource, Quantity.of(units)), Map.of());
    }

    private static NodeFacts capacity(Map<String, Long> units) {
        var capacity = new java.util.HashMap<String, Quantity>();
        units.forEach((resource, amount) -> capacity.put(resource, Quantity.of(amount)));
        return new NodeFacts(capacity, Map.of());
    }
}
