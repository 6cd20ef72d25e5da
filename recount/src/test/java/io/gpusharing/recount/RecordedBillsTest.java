package io.gpusharing.recount;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.testing.RecordedLife;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Bills that were worked out by hand from the instants in recorded audit logs: none of our code
 * took part, so they check the recount, which checks the ledger, independently.
 *
 * <p>Each pod asks for 10 {@code vcuda-core} and 1 {@code vcuda-memory} on a node of two GPUs with
 * 200 and 120: compute 10/100 = 0.1 GPU, memory 1/60 GPU. The larger one is charged, 100 000
 * micro-GPUs.
 */
class RecordedBillsTest {

    /** The nodes' amounts, which the recordings leave out. */
    private static String node(String name, int core, int memory) {
        return """
        {"stage": "ResponseComplete", "stageTimestamp": "2026-11-22T19:30:00Z", "requestURI": "/", \
        "objectRef": {"resource": "nodes"}, "responseStatus": {"code": 200}, "responseObject": \
        {"kind": "Node", "metadata": {"name": "%1$s", "uid": "%1$s", "resourceVersion": "1"}, \
        "status": {"capacity": {"tencent.com/vcuda-core": "%2$d", "tencent.com/vcuda-memory": "%3$d"}}}}
        """
                .formatted(name, core, memory);
    }

    private static Bill bill(String life, int core, int memory) throws IOException {
        RecordedLife recorded = RecordedLife.named(life);
        String log =
                node("gpu-node-1", core, memory)
                        + node("gpu-node-2", core, memory)
                        + recorded.auditLog();
        String uid = recorded.last().pod().at("/metadata/uid").asText();
        return Objects.requireNonNull(
                Recount.of(
                                AuditLog.read(
                                        new BufferedReader(new StringReader(log)),
                                        Duration.ofHours(3)),
                                false)
                        .get(uid));
    }

    private static Instant on22November(String time) {
        return Instant.parse("2026-11-22T" + time + "Z");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    # life                               | from     | until    | seconds         | 100 000 × seconds | ends with
                    begin-at-once/pod                    | 19:53:39 | 19:53:45 | 45 - 39         |    600000 | cuda; the meter's end a second later is not charged
                    begin-unschedulable-30-s/pod         | 19:36:11 | 19:36:27 | 27 - 11         |   1600000 | cuda; 30 s without a node are free
                    begin-unschedulable-5-min/pod        | 19:40:39 | 19:40:43 | 43 - 39         |    400000 | cuda; 5 min without a node are free
                    begin-image-pull-fails/pod           | 19:35:41 | 19:37:00 | 19 + 60         |   7900000 | cuda; it held its share while its image could not be pulled
                    begin-preempts/victim                | 19:35:42 | 19:36:17 | 18 + 17         |   3500000 | cuda, before the deletion at 19:36:20
                    begin-preempts/pod                   | 19:36:20 | 19:36:29 | 29 - 20         |    900000 | cuda
                    begin-mirror-pod/begin-mirror-pod-gpu-node-2 | 19:35:34 | 19:36:04 | 26 + 4 | 3000000 | its removal; from its creation, as its startTime 19:35:33 lies before that
                    middle-init-containers/pod           | 19:35:40 | 19:36:11 | 20 + 11         |   3100000 | cuda; its two init containers count
                    middle-native-sidecar/pod            | 21:05:21 | 21:05:33 | 33 - 21         |   1200000 | helper, a sidecar of its own, 6 s after cuda
                    middle-restarts-always/pod           | 19:35:39 | 19:36:37 | 21 + 37         |   5800000 | cuda's last end
                    end-succeeded/pod                    | 21:05:21 | 21:05:27 | 27 - 21         |    600000 | cuda
                    end-failed/pod                       | 19:53:39 | 19:53:45 | 45 - 39         |    600000 | cuda
                    end-deleted-with-grace-0/pod         | 19:35:41 | 19:36:21 | 19 + 21         |   4000000 | its removal: nobody saw its containers end
                    end-deleted-with-grace-30/pod        | 19:35:39 | 19:36:00 | 21 + 0          |   2100000 | cuda
                    end-deleted-with-a-year-of-grace/pod | 19:35:38 | 19:36:28 | 22 + 28         |   5000000 | the second deletion, by force
                    end-held-by-a-finalizer/pod          | 19:35:37 | 19:36:19 | 23 + 19         |   4200000 | cuda; the object stayed
                    end-evicted-by-the-api/pod           | 19:35:37 | 19:36:00 | 23 + 0          |   2300000 | cuda
                    end-preempted/pod                    | 19:35:43 | 19:36:17 | 17 + 17         |   3400000 | cuda
                    end-kubelet-restarted/pod            | 19:41:05 | 19:41:14 | 14 - 5          |    900000 | cuda, while its kubelet was down
                    end-node-lost-and-back/pod           | 19:42:07 | 19:46:10 | 53 + 3 * 60 + 10 | 24300000 | cuda, when its node was back
                    end-api-server-restarted/pod         | 19:41:25 | 19:41:34 | 34 - 25         |    900000 | cuda, while the API server was down
                    """)
    void theRecountOfARecordedLifeIsTheBillWorkedOutByHand(
            String life, String from, String until, String seconds, long due, String why)
            throws IOException {
        Bill bill = bill(life, 200, 120);

        assertThat(bill.from()).isEqualTo(on22November(from));
        assertThat(bill.to()).as(why).isEqualTo(on22November(until));
        assertThat(bill.unknown()).isNull();
        assertThat(bill.amount("Max", 1_000_000, bill.from(), on22November("23:00:00")))
                .as(seconds)
                .isEqualTo(due);
    }

    /** {@code end-succeeded}, six seconds, on other GPUs and by other rules. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
                    # formula | blocks | weight  | micro-GPUs                         | × 6
                    Compute   | 120    | 1000000 | 10/100                   = 100 000 |  600000
                    Memory    | 120    | 1000000 | 1/60       = 0.016 666 6 =  16 666 |   99996
                    Mean      | 120    | 1000000 | 7/120      = 0.058 333 3 =  58 333 |  349998
                    Max       | 120    | 2500000 | 2.5 * 10/100             = 250 000 | 1500000
                    Memory    | 120    | 2500000 | 2.5 * 1/60 = 0.041 666 6 =  41 666 |  249996
                    Max       | 10     | 1000000 | 1/5        > 10/100      = 200 000 | 1200000
                    """)
    void theShareFollowsTheFormulaTheGpusMemoryAndTheWeight(
            String formula, int blocks, long weight, String microGpus, long due)
            throws IOException {
        Bill bill = bill("end-succeeded/pod", 200, blocks);

        assertThat(bill.amount(formula, weight, bill.from(), on22November("23:00:00")))
                .as(microGpus)
                .isEqualTo(due);
    }
}
