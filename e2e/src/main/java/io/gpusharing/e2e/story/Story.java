package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InstalledServices;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;

/**
 * What a newcomer sees, step by step. Each method is one step; it builds on those before it, and
 * throws an {@link AssertionError} if the story is not true.
 *
 * <p>The pods are chosen so that there is only one place for each: {@code cuda} takes half a GPU of
 * one node, {@code trainer} both GPUs of the other, {@code late} fits only beside {@code cuda}.
 */
public final class Story {

    /** Values beside the chart's: a story cannot wait as long as a cluster can. */
    public static final Map<String, String> PROPERTIES =
            Map.of(
                    "GPUSHARING_RECLAIM_PATIENCE", "2s",
                    "GPUSHARING_BUDGETS_STATUSREFRESH", "1s",
                    "GPUSHARING_BUDGETS_STATUSSPACING", "1s");

    private final InstalledServices services;
    private final Narrator narrator;
    private final ClusterSnapshot snapshot;
    private String load = "";

    public Story(TestCluster cluster, InstalledServices services, Narrator narrator) {
        this.services = services;
        this.narrator = narrator;
        this.snapshot = new ClusterSnapshot(cluster, narrator);
    }

    /** All of it. */
    public void whole() {
        halfAGpu();
        whatCannotWork();
        theClockRuns();
        theBudgetEnds();
        aPodInBudgetIsServedFirst();
        theQuota();
        whatWasReallyUsed();
        waitingCostsNothing();
        theTable();
    }

    /** Step 1: a pod that asks for half a GPU is completed, placed and runs. */
    public void halfAGpu() {
        narrator.step("1. Half a GPU");
        snapshot.succeeds("create", "-f", "e2e/story/teams.yaml");
        snapshot.kubectl(
                        "wait",
                        "gpubudget/team-a",
                        "gpubudget/team-b",
                        "--for=jsonpath={.status.standing}=InBudget",
                        "--timeout=30s")
                .orFail();
        snapshot.succeeds("create", "-f", "e2e/story/cuda.yaml");
        snapshot.running("team-a", "cuda");
        snapshot.kubectl("create", "-f", "e2e/story/patient.yaml").orFail();
        narrator.say("It runs. This is what was added to it:");
        String added =
                snapshot.succeeds(
                        "get",
                        "pod",
                        "cuda",
                        "-n",
                        "team-a",
                        "-o",
                        "go-template-file=e2e/story/added.tpl");

        assertThat(added)
                .contains("class        gpu-in-budget (0)")
                .contains("annotation   tencent.com/vcuda-core-limit=50")
                .contains("annotation   gpusharing.io/standing=InBudget")
                .contains("label        gpusharing.io/metered=true")
                .contains("sidecar      gpusharing-sidecar")
                .contains("(Running)");
    }

    /**
     * Step 2: what cannot work is refused at once, where it was asked for, with what would be
     * legal.
     */
    public void whatCannotWork() {
        narrator.step("2. What cannot work is said at once");
        assertThat(snapshot.refused("create", "-f", "e2e/story/one-and-a-half.yaml"))
                .contains("cuda", "tencent.com/vcuda-core", "150", "1..99", "200");
        assertThat(snapshot.refused("create", "-f", "e2e/story/no-memory.yaml"))
                .contains("cuda", "tencent.com/vcuda-memory", "is not set", "1 or more");
        assertThat(snapshot.refused("create", "-f", "e2e/story/bad-deployment.yaml"))
                .contains("cuda", "tencent.com/vcuda-core", "150");
        assertThat(snapshot.refused("create", "-f", "e2e/story/bad-job.yaml"))
                .contains("cuda", "tencent.com/vcuda-memory", "is not set", "1 or more");
        assertThat(
                        snapshot.kubectl("get", "deployments,jobs", "-n", "team-a", "-o", "name")
                                .orFail())
                .isEmpty();
    }

    /** Step 3: used time is share times time, to the microsecond. */
    public void theClockRuns() {
        narrator.step("3. The clock runs");
        snapshot.succeeds("get", "gpubudgets");
        Instant placed = snapshot.placedAt("team-a", "cuda");
        BudgetStatus status =
                patiently("team-a is charged for half a GPU")
                        .until(() -> snapshot.status("team-a"), s -> s.rate() == 500_000);

        Instant now = Instant.now();
        assertThat(status.usedAt(now))
                .as("half of the time since PodScheduled, in micro-GPU-seconds")
                .isBetween(halfSince(placed, now) - 1, halfSince(placed, now) + 1);
        narrator.say(
                "cuda holds 0.5 GPU for %.3f s now: %s of %s GPU-minutes are used."
                        .formatted(
                                Duration.between(placed, now).toMillis() / 1e3,
                                BudgetStatus.minutes(status.usedAt(now)),
                                "0.25"));
    }

    /**
     * Step 4: the budget ends in the foretold second; work goes on at a lower priority, and is
     * charged. From then on cuda uses its GPU, which step 7 shows.
     */
    public void theBudgetEnds() {
        narrator.step("4. The budget ends");
        snapshot.succeeds("create", "-f", "e2e/story/trainer.yaml");
        // It is charged from its binding on, and a few seconds later all is used up.
        BudgetStatus running =
                patiently("team-a is charged for two and a half GPUs")
                        .until(() -> snapshot.status("team-a"), s -> s.rate() == 2_500_000);
        snapshot.running("team-a", "trainer");
        Instant end = requirePresent(running.exhaustedAt(), "exhaustedAt");
        narrator.say("With two more GPUs it will end at " + end + ", the status foretells.");
        assertThat(end).as("foretold when it was not over yet").isAfter(running.asOf());
        assertThat(running.standing()).isEqualTo("InBudget");

        patiently("the budget is exhausted")
                .until(() -> snapshot.status("team-a").standing(), "OverBudget"::equals);
        assertThat(Instant.now()).isAfterOrEqualTo(end);
        assertThat(snapshot.status("team-a").exhaustedAt())
                .as("it ended when it was foretold")
                .isCloseTo(end, within(1, ChronoUnit.MILLIS));
        String events =
                patiently("an Event says so")
                        .until(
                                () -> snapshot.eventsOf("GpuBudget", "team-a"),
                                text -> text.contains("BudgetExhausted"));
        narrator.say(events);
        snapshot.succeeds("get", "gpubudgets");

        snapshot.succeeds("create", "-f", "e2e/story/late.yaml");
        snapshot.running("team-a", "late");
        assertThat(
                        snapshot.succeeds(
                                        "get",
                                        "pods",
                                        "-n",
                                        "team-a",
                                        "-o",
                                        "custom-columns=NAME:.metadata.name,CLASS:.spec.priorityClassName,PRIORITY:.spec.priority,NODE:.spec.nodeName,PHASE:.status.phase")
                                .replaceAll(" +", " "))
                .contains("late gpu-over-budget -100")
                .contains("cuda gpu-in-budget 0");
        patiently("late is charged too").until(() -> snapshot.status("team-a").rate() == 3_500_000);
        narrator.say("It runs, because GPUs are free, and it is charged: 3.5 GPUs are held now.");
        load = services.keepGpuBusy(requirePresent(snapshot.pod("team-a", "cuda"), "cuda"));
    }

    /**
     * Step 5: who is in budget comes first, by the scheduler where it can, by reclaim where it
     * cannot.
     */
    public void aPodInBudgetIsServedFirst() {
        narrator.step("5. Who is in budget comes first");
        assertThat(snapshot.evictions()).as("nobody was evicted while nobody waited").isZero();
        narrator.say(
                "team-b asks for a GPU; the scheduler preempts team-a's pod of lower priority:");
        snapshot.succeeds("create", "-f", "e2e/story/urgent.yaml");
        snapshot.running("team-b", "urgent");
        patiently("late is gone").until(() -> snapshot.pod("team-a", "late") == null);
        assertThat(
                        snapshot.succeeds(
                                "get",
                                "events",
                                "-n",
                                "team-a",
                                "--field-selector=involvedObject.name=late,reason=Preempted"))
                .contains("Preempted");
        assertThat(snapshot.evictions()).as("the scheduler did that, not we").isZero();

        narrator.say(
                "team-b asks for two more. Only trainer is in the way, and it has the same priority: it was admitted in budget. GPUSharing evicts it:");
        snapshot.succeeds("create", "-f", "e2e/story/big.yaml");
        snapshot.running("team-b", "big");
        patiently("trainer is gone").until(() -> snapshot.pod("team-a", "trainer") == null);
        assertThat(
                        snapshot.succeeds(
                                "get",
                                "events",
                                "-n",
                                "team-a",
                                "--field-selector=involvedObject.name=trainer"))
                .containsIgnoringCase("reclaim");
        assertThat(snapshot.evictions()).as("one eviction, no more").isEqualTo(1);
        assertThat(snapshot.pod("team-a", "cuda")).as("cuda was in nobody's way").isNotNull();
        snapshot.succeeds("get", "pods", "-A", "-l", "gpusharing.io/metered=true", "-o", "wide");
    }

    /** Step 6: how much at once is a plain ResourceQuota. */
    public void theQuota() {
        narrator.step("6. How much at once: a ResourceQuota");
        assertThat(snapshot.refused("create", "-f", "e2e/story/too-many.yaml"))
                .contains("exceeded quota: gpus")
                .contains("requests.tencent.com/vcuda-core=300");
    }

    /** Step 7: the injected sidecar measures, and the timekeeper shows use beside charge. */
    public void whatWasReallyUsed() {
        narrator.step("7. What was really used");
        narrator.say("cuda: " + load);
        JsonNode cuda =
                patiently("ten seconds of cuda are measured")
                        .until(
                                () -> usage("team-a", "cuda"),
                                pod -> pod.at("/use/coveredMicroseconds").asLong() >= 8_000_000);
        long covered = cuda.at("/use/coveredMicroseconds").asLong();
        double busy = (double) cuda.at("/use/measured").asLong() / covered;
        narrator.command(
                services.api().curl("/api/v1/usage/pods?namespace=team-a"), cuda.toPrettyString());

        assertThat(cuda.path("rate").asLong()).as("charged for").isEqualTo(500_000);
        // Eight seconds are few: a late first sample of a busy computer weighs as much as one of
        // them.
        assertThat(busy).as("measured busy time of the GPU").isBetween(0.2, 0.4);
        narrator.say(
                "It is charged for 0.5 GPU; in %.1f s it kept %.0f %% of the GPU busy."
                        .formatted(covered / 1e6, 100 * busy));
    }

    /** Step 8: a pod that waits for a node is charged from its binding on. */
    public void waitingCostsNothing() {
        narrator.step("8. Waiting costs nothing");
        narrator.say(
                "patient has waited since step 1 for a node with a label. Now the nodes get it:");
        snapshot.succeeds("label", "nodes", "--all", "example.com/quiet=yes");
        snapshot.running("team-a", "patient");
        Pod patient = requirePresent(snapshot.pod("team-a", "patient"), "patient");
        Instant created = Instant.parse(patient.getMetadata().getCreationTimestamp());
        Instant placed = snapshot.placedAt("team-a", "patient");
        JsonNode usage =
                patiently("patient is charged")
                        .until(() -> usage("team-a", "patient"), pod -> !pod.isMissingNode());

        assertThat(Instant.parse(usage.path("from").asText())).as("charged from").isEqualTo(placed);
        assertThat(placed).as("it waited long").isAfter(created.plusSeconds(15));
        narrator.say(
                "It waited for %d s, and is charged from %s on, when it was bound."
                        .formatted(Duration.between(created, placed).toSeconds(), placed));
    }

    /** The end: what each budget was granted, was charged, really did, and where it stands. */
    public void theTable() {
        narrator.step("In the end");
        narrator.say(row("BUDGET", "GRANTED", "USED", "MEASURED", "STANDING"));
        var standings = new HashMap<String, String>();
        for (JsonNode budget : services.api().get("/api/v1/usage/budgets")) {
            narrator.say(
                    row(
                            budget.path("budget").asText(),
                            budget.path("grantedMinutes").asText(),
                            budget.path("usedMinutes").asText(),
                            budget.path("measuredMinutes").asText(),
                            budget.path("standing").asText()));
            standings.put(budget.path("budget").asText(), budget.path("standing").asText());
        }
        assertThat(standings)
                .containsEntry("team-a", "OverBudget")
                .containsEntry("team-b", "InBudget");
    }

    private static String row(String... cells) {
        return "  %-10s %10s %10s %10s   %s".formatted((Object[]) cells);
    }

    private JsonNode usage(String namespace, String name) {
        for (JsonNode pod : services.api().get("/api/v1/usage/pods?namespace=" + namespace)) {
            if (pod.path("name").asText().equals(name)) {
                return pod;
            }
        }
        return MissingNode.getInstance();
    }

    private static long halfSince(Instant from, Instant to) {
        return Duration.between(from, to).toNanos() / 1_000 / 2;
    }

    private static ConditionFactory patiently(String what) {
        return await(what)
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(100))
                .ignoreExceptionsMatching(e -> !(e instanceof AssertionError));
    }

    private static <T> T requirePresent(@Nullable T value, String what) {
        if (value == null) {
            throw new AssertionError(what + " is missing");
        }
        return value;
    }
}
