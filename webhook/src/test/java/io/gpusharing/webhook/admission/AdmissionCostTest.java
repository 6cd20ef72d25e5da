package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What one review may cost. Memory is counted, not timed, so that a busy machine changes nothing.
 */
class AdmissionCostTest {

    private static final int WARM_UP = 3_000;
    private static final int REVIEWS = 500;

    /** The least of them counts: code that is not compiled yet allocates more. */
    private static final int ROUNDS = 10;

    private static final int MAX_BYTES_PER_REVIEW = 40_000;

    @Test
    void aReviewOfSevenKilobytesAllocatesLessThanFortyKilobytes() {
        byte[] review = reviewOfSevenKilobytes();
        Admission admission =
                new Installation().budget("1000", OnExhausted.LowerPriority).admission();
        for (int i = 0; i < WARM_UP; i++) {
            admission.answer(WebhookType.Mutate, review);
        }
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long cpu = threads.getCurrentThreadCpuTime();

        int answered = 0;
        long perReview = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < REVIEWS; i++) {
                answered += admission.answer(WebhookType.Mutate, review).length;
            }
            long allocated = (threads.getCurrentThreadAllocatedBytes() - before) / REVIEWS;
            perReview = Math.min(perReview, allocated);
        }

        System.out.printf(
                "%d bytes of review, %d bytes of answer: %d bytes allocated, %d µs of processor each%n",
                review.length,
                answered / REVIEWS / ROUNDS,
                perReview,
                (threads.getCurrentThreadCpuTime() - cpu) / REVIEWS / ROUNDS / 1000);
        assertThat(perReview).isLessThan(MAX_BYTES_PER_REVIEW);
    }

    private static byte[] reviewOfSevenKilobytes() {
        ObjectNode pod = Manifests.asReceived(Manifests.halfAGpu());
        ObjectNode fields = pod.withObject("/metadata/managed/f:spec/f:containers");
        for (int i = 0; i < 130; i++) {
            fields.withObject("/k:container" + i % 5).putObject("f:fieldOfManyThings" + i);
        }
        var env = ((ObjectNode) pod.at("/spec/containers/0")).putArray("env");
        for (int i = 0; i < 40; i++) {
            env.addObject().put("name", "VARIABLE_" + i).put("value", "some value of it " + i);
        }
        return JsonMapper.shared()
                .writeValueAsBytes(Installation.review("CREATE", "", "Pod", pod, null));
    }
}
