package io.gpusharing.recount;

import static io.gpusharing.recount.Audited.HALF;
import static io.gpusharing.recount.Audited.NODE;
import static io.gpusharing.recount.Audited.UID;
import static io.gpusharing.recount.Audited.containers;
import static io.gpusharing.recount.Audited.ended;
import static io.gpusharing.recount.Audited.inits;
import static io.gpusharing.recount.Audited.limits;
import static io.gpusharing.recount.Audited.log;
import static io.gpusharing.recount.Audited.object;
import static io.gpusharing.recount.Audited.pod;
import static io.gpusharing.recount.Audited.running;
import static io.gpusharing.recount.Audited.sidecar;
import static io.gpusharing.recount.Audited.step;
import static io.gpusharing.recount.Audited.terminated;
import static io.gpusharing.recount.Audited.written;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.recount.Bill.Held;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bills from what the API server wrote down alone. */
class RecountTest {

    private static final Instant TEN = Instant.parse("2026-03-01T10:00:00Z");
    private static final String GONE =
            ", \"deletionTimestamp\": \"2026-03-01T10:00:05Z\", \"deletionGracePeriodSeconds\": 0";

    private static long compute(Bill bill) {
        return bill.amount("Compute", 1_000_000, bill.from(), bill.from().plusSeconds(1));
    }

    private static long memory(Bill bill) {
        return bill.amount("Memory", 1_000_000, bill.from(), bill.from().plusSeconds(1));
    }

    private static Bill bill(String... lines) {
        return bill(log(lines));
    }

    private static Bill bill(AuditLog log) {
        assertThat(Recount.of(log, true)).containsOnlyKeys(UID);
        return Recount.of(log, true).values().iterator().next();
    }

    @Test
    void aPodIsBilledFromItsPlacingToTheEndOfTheLastOfAllItsContainers() {
        Bill bill =
                bill(
                        NODE,
                        running(HALF),
                        pod(
                                "10:01:00",
                                2,
                                "",
                                HALF,
                                ", \"phase\": \"Failed\""
                                        + terminated("containerStatuses", "10:00:09", "10:00:07")
                                        + terminated("initContainerStatuses", "10:00:11")
                                        + terminated("ephemeralContainerStatuses", "10:00:13")));

        assertThat(bill.from()).isEqualTo(TEN);
        assertThat(bill.to()).isEqualTo(TEN.plusSeconds(13));
    }

    @Test
    void aPodThatWasRemovedIsBilledUntilThatOrUntilItsLastContainerIfThatWasLater() {
        assertThat(bill(NODE, pod("10:00:05", 2, GONE, HALF, "")).to())
                .isEqualTo(TEN.plusSeconds(5));
        assertThat(
                        bill(
                                        NODE,
                                        pod(
                                                "10:00:06",
                                                2,
                                                GONE,
                                                HALF,
                                                terminated("containerStatuses", "10:00:06")))
                                .to())
                .isEqualTo(TEN.plusSeconds(6));
    }

    @Test
    void aDeletionThatIsPendingIsNoEnd() {
        String pending = GONE.replace(": 0", ": 30");

        assertThat(bill(NODE, pod("10:00:00", 2, pending, HALF, "")).to()).isNull();
    }

    @Test
    void containersAndSidecarsRunTogetherAndEachStepAloneBesideTheSidecarsBeforeIt() {
        String two = containers(limits(30, 6), limits(20, 6));
        String beside = sidecar(limits(10, 3));
        String large = step(limits(200, 0));

        assertThat(bill(NODE, running(two)))
                .extracting(RecountTest::compute, RecountTest::memory)
                .containsExactly(500_000L, 200_000L);
        assertThat(bill(NODE, running(two + inits(beside))))
                .extracting(RecountTest::compute, RecountTest::memory)
                .containsExactly(600_000L, 250_000L);
        assertThat(bill(NODE, running(two + inits(step(limits(40, 30)), step(limits(45, 3))))))
                .extracting(RecountTest::compute, RecountTest::memory)
                .containsExactly(500_000L, 500_000L);
        assertThat(compute(bill(NODE, running(two + inits(beside, large))))).isEqualTo(2_100_000);
        assertThat(compute(bill(NODE, running(two + inits(large, beside))))).isEqualTo(2_000_000);
    }

    @ParameterizedTest(name = "on {0}, its GpuNode in the log: {1}")
    @CsvSource({
        "small,  true,  937500",
        "large,  true,  187500",
        "'',     true,  312500",
        "other,  true,  312500",
        "small,  false, 312500",
    })
    void aPartOfMemoryIsAPartOfTheGpuThatThePodWasPlacedOn(
            String gpu, boolean known, long expected) {
        String sixty = containers(limits(10, 60)).replace("{\"res", "{\"name\": \"cuda\", \"res");
        String placed =
                gpu.isEmpty()
                        ? ""
                        : ", \"annotations\": {\"gpusharing.io/placement\": \"%s;cuda=%s\"}"
                                .formatted(UID, gpu);
        String mixed = NODE.replace("\"120\"", "\"384\"");
        String gpus =
                written(
                        "gpunodes",
                        "10:00:00",
                        """
                        {"kind": "GpuNode", "metadata": {"name": "gpu-1", "uid": "g"}, "status": {"gpus": [
                         {"uuid": "small", "memoryMiB": 16384}, {"uuid": "large", "memoryMiB": 81920}]}}\
                        """);
        String pod = pod("10:00:00", 1, placed, sixty, "");

        Bill bill = known ? bill(mixed, gpus, pod) : bill(mixed, pod);

        assertThat(memory(bill)).isEqualTo(expected);
        assertThat(compute(bill)).isEqualTo(100_000);
        assertThat(bill.onUnknownGpu()).isEqualTo(!known || gpu.equals("other"));
    }

    @Test
    void wholeGpusOfAnotherPluginAreBilledWhereNothingSharesThem() {
        String metered = ", \"labels\": {\"gpusharing.io/metered\": \"true\"}";
        String one = containers("\"nvidia.com/gpu\": \"1\"");
        String shared =
                NODE.replace(
                        "\"name\": \"gpu-1\"",
                        "\"name\": \"gpu-1\", \"labels\": {\"nvidia.com/gpu.replicas\": \"4\"}");

        assertThat(bill(NODE, pod("10:00:00", 1, metered, one, "")))
                .extracting(RecountTest::compute, RecountTest::memory, Bill::unknown)
                .containsExactly(1_000_000L, 1_000_000L, null);
        assertThat(bill(shared, pod("10:00:00", 1, metered, one, "")).unknown())
                .contains("replicas");
        assertThat(Recount.of(log(NODE, running(one)), false))
                .as("they are not charged here")
                .isEmpty();
    }

    /** HAMi's count says of how many GPUs its parts are parts of. */
    @Test
    void partsByHamiAreNotTakenForWholeGpus() {
        String part = containers("\"nvidia.com/gpu\": \"1\", \"nvidia.com/gpumem\": \"4096\"");

        assertThat(bill(NODE, running(part)).unknown())
                .isEqualTo("it asks for GPUs in a way that is not recounted");
    }

    @Test
    void wholeGpusAreBilledWithoutOurLabelToo() {
        Bill bill = bill(NODE, running(containers("\"nvidia.com/gpu\": \"2\"")));

        assertThat(compute(bill)).isEqualTo(2_000_000);
        assertThat(bill.unknown()).isNull();
    }

    @Test
    void aPodThatAsksForNoGpuIsNotBilledUnlessItIsCharged() {
        AuditLog cpu = log(NODE, running(containers("\"cpu\": \"9e999\"")));
        AuditLog otherwise = log(NODE, running(containers("\"aliyun.com/gpu-mem\": \"8\"")));

        assertThat(Recount.of(cpu, true)).isEmpty();
        assertThat(Recount.of(cpu, true, Set.of(UID)).values())
                .singleElement()
                .extracting(RecountTest::compute)
                .isEqualTo(0L);
        assertThat(Recount.of(otherwise, true)).isEmpty();
        assertThat(Recount.of(otherwise, true, Set.of(UID)).values())
                .singleElement()
                .extracting(Bill::unknown)
                .isEqualTo("it asks for GPUs in a way that is not recounted");
    }

    @Test
    void aPodThatCannotBeRecountedIsNamedAndNotGuessed() {
        String metered = ", \"labels\": {\"gpusharing.io/metered\": \"true\"}";
        String otherwise = containers("\"aliyun.com/gpu-mem\": \"8\"");

        assertThat(bill(running(HALF)).unknown()).contains("node is not in the log");
        assertThat(bill(NODE.replace("vcuda-core\": \"200", "x\": \"1"), running(HALF)).unknown())
                .contains("shows no GPUs");
        assertThat(bill(NODE, pod("10:00:00", 1, metered, otherwise, "")).unknown())
                .contains("in a way that is not recounted");
        assertThat(bill(NODE, pod("10:05:00", 2, "", HALF, ", \"phase\": \"Failed\"")).unknown())
                .as("its node was lost")
                .contains("nobody saw");
    }

    @Test
    void aPodThatWasNeverPlacedIsNotBilled() {
        String waiting = running(HALF).replace("\"status\": \"True\"", "\"status\": \"False\"");

        assertThat(Recount.of(log(NODE, waiting), true)).isEmpty();
    }

    @Test
    void theLatestVersionIsBelievedInWhateverOrderAnswersWereLogged() {
        assertThat(bill(NODE, ended(HALF, "10:00:07"), running(HALF)).to())
                .isEqualTo(TEN.plusSeconds(7));
    }

    @Test
    void onlyWhatWasReallyWrittenCounts() {
        String end = ended(HALF, "10:00:07");

        assertThat(bill(NODE, running(HALF), end).to()).isNotNull();
        assertThat(bill(NODE, running(HALF), end.replace("URI\": \"/", "URI\": \"/p?dryRun=All")))
                .extracting(Bill::to)
                .isNull();
        assertThat(bill(NODE, running(HALF), end.replace("\"code\": 200", "\"code\": 409")).to())
                .isNull();
        assertThat(bill(NODE, running(HALF), end.replace("ResponseComplete", "Panic")).to())
                .isNull();
        assertThat(
                        bill(
                                        NODE,
                                        running(HALF),
                                        end.replace("\"kind\": \"Pod\"", "\"kind\": \"Eviction\""))
                                .to())
                .as("what an eviction is answered is no pod")
                .isNull();
    }

    @Test
    void theMembersOfAListAreReadToo() {
        String members =
                "{\"items\": [%s]}"
                        .formatted(object(1, "", HALF, "").replace("\"kind\": \"Pod\", ", ""));

        assertThat(compute(bill(NODE, written("pods", "10:00:00", members)))).isEqualTo(500_000);
    }

    @Test
    void aTruncatedLineIsReported() {
        AuditLog log = log(NODE, "{\"stage\": \"Resp", running(HALF));

        assertThat(log.defects()).containsExactly("line 2 is no audit event");
        assertThat(compute(bill(log))).isEqualTo(500_000);
    }

    @ParameterizedTest
    @CsvSource({
        "Max, 600000, 700000, 1000000, 7000000",
        "Max, 700000, 600000, 1000000, 7000000",
        "Compute, 600000, 700000, 1000000, 6000000",
        "Memory, 700000, 600000, 1000000, 6000000",
        "Mean, 600001, 700000, 1000000, 6500000",
        "Max, 600000, 300001, 500000, 3000000",
        "Max, 333333, 0, 500000, 1666660",
    })
    void aBillIsTheRateOfItsFormulaByTheWeightOfTheGpuForItsSeconds(
            String formula, long compute, long memory, long weight, long due) {
        var held =
                new Held(
                        BigDecimal.valueOf(compute),
                        BigDecimal.valueOf(memory),
                        BigDecimal.valueOf(1_000_000));
        var bill =
                new Bill(
                        UID,
                        "team-a",
                        "p",
                        held,
                        TEN,
                        TEN.plusSeconds(30),
                        List.of(),
                        null,
                        false,
                        null);

        assertThat(bill.amount(formula, weight, TEN.plusSeconds(20), TEN.plusSeconds(60)))
                .isEqualTo(due);
        assertThat(bill.amount(formula, weight, TEN.minusSeconds(9), TEN.plusSeconds(10)))
                .isEqualTo(due);
        assertThat(bill.amount(formula, weight, TEN.plusSeconds(30), TEN.plusSeconds(60))).isZero();
    }

    /** Of 97 blocks 3, 3, 4 and 4 are 144 329.9 millionths. */
    @Test
    void aPodOfSeveralContainersIsRoundedOnce() {
        String node = NODE.replace("\"120\"", "\"194\"");
        String four = containers(limits(1, 3), limits(1, 3), limits(1, 4), limits(1, 4));

        assertThat(memory(bill(node, running(four)))).isEqualTo(144_329);
    }
}
