package io.gpusharing.scheduler.extender;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.cluster.RunningPodReader;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.pods.DisruptionBudget;
import io.gpusharing.scheduler.pods.EndingRules;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.BudgetClasses;
import io.gpusharing.scheduler.preemption.ClusterReader;
import io.gpusharing.scheduler.preemption.NodePods;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.scheduler.preemption.Preemption;
import io.gpusharing.scheduler.preemption.Preemptions;
import io.gpusharing.scheduler.preemption.PresentStandings.Present;
import io.gpusharing.scheduler.preemption.RunningPod;
import io.gpusharing.scheduler.preemption.RunningPod.Stamps;
import io.gpusharing.scheduler.preemption.RunningPods;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

/**
 * What a real kube-scheduler asked when a pod of 60 hundredths found the two GPUs of a node full,
 * one with 30, 30 and 40, the other with 40 and 60, where those of 40 and 60 on different GPUs have
 * its own priority. It would have evicted one of each GPU.
 */
class PreemptControllerTest implements ClusterReader {

    private static final Instant NOON = Instant.parse("2026-11-26T12:00:00Z");
    private static final String NODE = "gpu-node-1";
    private static final String LOW_1 = "16edbee7-f0e4-4ea4-88c9-bb22e9dca93e";
    private static final String LOW_2 = "ae28b13c-3b4c-4d09-a481-afea2df62895";
    private static final String LOWEST = "ff8edadd-bb9f-4b6a-aa75-bc6a73dfe0f8";
    private static final String NOBODY = "{}";

    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final RunningPods running = new RunningPods();
    private final List<Load> loads = new ArrayList<>();
    private boolean known = true;
    private Optional<String> whyNot = Optional.empty();
    private boolean away;
    private boolean readOnly;
    private final List<KeptRoom> kept = new ArrayList<>();

    private final MockMvc extender =
            MockMvcBuilders.standaloneSetup(
                            new PreemptController(
                                    () -> known,
                                    () -> whyNot,
                                    new SchedulerName("gpusharing-scheduler"),
                                    new GpuPodReader(
                                            new ProviderAsk(Map.of()),
                                            Strategy.BestFit,
                                            PodSharing.NONE),
                                    new UnreadableObjects(_ -> {}),
                                    new RunningPodReader(Gangs.OF_JOBS),
                                    new Preemptions(
                                            gpus,
                                            running,
                                            this,
                                            PreemptControllerTest::nobodyPays,
                                            new BudgetClasses(0, -100),
                                            new EndingRules(
                                                    Duration.ofMinutes(1), Duration.ofMinutes(5)),
                                            Clock.fixed(NOON, ZoneOffset.UTC)),
                                    gpus,
                                    this::keep))
                    .build();

    private static Present nobodyPays() {
        return new Present() {

            @Override
            public Instant at() {
                return NOON;
            }

            @Override
            public @Nullable BudgetAccount payer(String namespace) {
                return null;
            }

            @Override
            public boolean protects(String namespace) {
                return false;
            }
        };
    }

    @Override
    public Optional<NodePods> read(String node) {
        if (away) {
            throw new IllegalStateException("the API server is away");
        }
        return Optional.of(new NodePods(amounts(200, 110), loads, List.of()));
    }

    @Override
    public Map<String, List<DisruptionBudget>> disruptionBudgets() {
        var guarded =
                new LabelSelectorBuilder()
                        .addNewMatchExpression()
                        .withKey("guarded")
                        .withOperator("Exists")
                        .endMatchExpression()
                        .build();
        return Map.of(
                "placement",
                List.of(new DisruptionBudget("placement/none-goes", guarded, 0, Set.of())));
    }

    private void keep(GpuPod pod, Preemption chosen) {
        if (readOnly) {
            throw new IllegalStateException("nothing can be written");
        }
        kept.add(
                new KeptRoom(
                        pod.name(),
                        pod.priority(),
                        chosen.node(),
                        chosen.placement().held(),
                        chosen.victims().stream().map(RunningPod::uid).collect(Collectors.toSet()),
                        chosen.keptUntil(NOON)));
    }

    private static Amounts amounts(int cores, int slots) {
        return new Amounts(
                Map.of(
                        "tencent.com/vcuda-core",
                        BigDecimal.valueOf(cores),
                        "tencent.com/vcuda-memory",
                        BigDecimal.valueOf(cores),
                        "pods",
                        BigDecimal.valueOf(slots)));
    }

    @BeforeEach
    void fillTheNode() {
        gpus.describe(
                new SharedNode(
                        NODE,
                        List.of(new Gpu("gpu-0", 100, 15_360), new Gpu("gpu-1", 100, 15_360)),
                        List.of(),
                        Map.of()));
        run("kept-40", 0, 40, 1_000);
        run(LOW_1, 0, 30, -100);
        run(LOW_2, 0, 30, -100);
        run("kept-60", 1, 60, 1_000);
        run(LOWEST, 1, 40, -200);
    }

    private void run(String uid, int gpu, int cores, int priority) {
        var ask = new GpuAsk(1, cores, 256, false);
        var pod =
                new RunningPod(
                        uid,
                        "placement",
                        uid,
                        uid.equals(LOW_2) ? Map.of("guarded", "true") : Map.of(),
                        priority,
                        NOON.minusSeconds(60),
                        null,
                        Duration.ofSeconds(90),
                        uid,
                        new Stamps(true, false, false),
                        null);
        gpus.bind(
                new GpuPod(
                        uid,
                        "placement",
                        uid,
                        List.of(new ContainerAsk("cuda", Kind.App, ask, Set.of("gpu-" + gpu)))),
                NODE);
        running.put(pod, NODE);
        loads.add(new Load(pod, amounts(cores, 1)));
    }

    private static String recorded() throws IOException {
        try (InputStream in =
                PreemptControllerTest.class.getResourceAsStream("/recorded/preempt-1.36.3.json")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String ask(String question) throws Exception {
        var answer =
                extender.perform(
                                post("/preempt")
                                        .contentType(MediaType.APPLICATION_JSON)
                                        .content(question))
                        .andReturn()
                        .getResponse();
        assertThat(answer.getStatus()).isEqualTo(200);
        return answer.getContentAsString();
    }

    @Test
    void namesTheNodeAndThePodsOnTheGpuThatIsWanted() throws Exception {
        assertThat(ask(recorded()))
                .isEqualTo(
                        "{\"NodeNameToMetaVictims\":{\"%s\":{\"Pods\":[{\"UID\":\"%s\"},{\"UID\":\"%s\"}],\"NumPDBViolations\":1}}}"
                                .formatted(NODE, LOW_1, LOW_2));
    }

    @Test
    void theGpuIsKeptUntilTheVictimsGraceIsOverAndAMinuteMore() throws Exception {
        ask(recorded());

        assertThat(kept)
                .containsExactly(
                        new KeptRoom(
                                "waiter",
                                1_000,
                                NODE,
                                List.of(new GpuHold("gpu-0", 60, 256, false)),
                                Set.of(LOW_1, LOW_2),
                                NOON.plusSeconds(150)));
    }

    @Test
    void nobodyGoesWhereTheGpuCannotBeKept() throws Exception {
        readOnly = true;

        assertThat(ask(recorded())).isEqualTo(NOBODY);
    }

    @Test
    void nobodyGoesForAPodThatPreemptsNobodyOrIsOfNoHigherPriority() throws Exception {
        assertThat(ask(recorded().replace("\"PreemptLowerPriority\"", "\"Never\"")))
                .isEqualTo(NOBODY);
        assertThat(ask(recorded().replace("\"priority\":1000", "\"priority\":-100")))
                .isEqualTo(NOBODY);
    }

    @Test
    void aPodWithoutAPriorityHasThatOfZero() throws Exception {
        assertThat(ask(recorded().replace("\"priority\":1000,", ""))).contains(LOW_1, LOW_2);
    }

    @Test
    void nobodyGoesWhileTheClusterIsNotKnown() throws Exception {
        known = false;

        assertThat(ask(recorded())).isEqualTo(NOBODY);
    }

    @Test
    void nobodyGoesForASchedulerThatDoesNotLeadAnyMore() throws Exception {
        whyNot = Optional.of("another scheduler leads");

        assertThat(ask(recorded())).isEqualTo(NOBODY);
        assertThat(kept).isEmpty();
    }

    @Test
    void nobodyGoesForAPodThatFilterWouldRefuse() throws Exception {
        assertThat(ask(recorded().replace("\"gpusharing-scheduler\"", "\"another-profile\"")))
                .isEqualTo(NOBODY);
    }

    @Test
    void nobodyGoesWhenTheApiServerIsAwayOrTheQuestionCannotBeRead() throws Exception {
        assertThat(ask(recorded().replace("\"60\"", "\"sixty\""))).isEqualTo(NOBODY);
        assertThat(ask("{")).isEqualTo(NOBODY);

        assertThat(gpus.wakeable(10, NOON)).isEmpty();

        away = true;
        assertThat(ask(recorded())).isEqualTo(NOBODY);
        assertThat(gpus.wakeable(10, NOON)).as("is tried again soon").hasSize(1);
    }

    @Test
    void nodesAndVictimsThatAreNullOrMissingAreNoCandidates() throws Exception {
        String pod = recorded().substring(0, recorded().indexOf("\"NodeNameToVictims\""));

        for (String nodes :
                List.of(
                        "\"NodeNameToMetaVictims\":null}",
                        "\"NodeNameToMetaVictims\":{}}",
                        "\"NodeNameToMetaVictims\":{\"gpu-node-1\":null}}",
                        "\"NodeNameToVictims\":{\"gpu-node-1\":{\"Pods\":[]}}}")) {
            assertThat(ask(pod + nodes)).as(nodes).isEqualTo(NOBODY);
        }
        assertThat(
                        ask(
                                pod
                                        + "\"NodeNameToMetaVictims\":{\"gpu-node-1\":{\"Pods\":null,\"NumPDBViolations\":0}}}"))
                .as("releases from 1.38 on name no victims where sums fit")
                .contains(LOW_1, LOW_2);
    }

    @Test
    void forAPodWithoutGpusOfOursNothingChanges() throws Exception {
        known = false;
        String other = recorded().replace("tencent.com/vcuda-", "example.com/other-");

        assertThat(ask(other))
                .isEqualTo(
                        "{\"NodeNameToMetaVictims\":{\"%s\":{\"Pods\":[{\"UID\":\"%s\"},{\"UID\":\"%s\"}],\"NumPDBViolations\":0}}}"
                                .formatted(NODE, LOW_2, LOWEST));
        assertThat(ask(other.replaceFirst("\"Pods\":\\[[^]]*\\]", "\"Pods\":[]")))
                .as("a node with nobody to evict would end the attempt")
                .isEqualTo(NOBODY);
    }
}
