package io.gpusharing.webhook.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.webhook.admission.Admission;
import io.gpusharing.webhook.admission.Installation;
import io.gpusharing.webhook.admission.WebhookType;
import io.gpusharing.webhook.review.MalformedReviewException;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is allocated for a review is at least what lives of it at any moment, and nothing else on
 * the machine changes it.
 */
class ReviewMemoryTest {

    private static final int LENGTH = 1_400_000;

    private final Admission admission =
            new Installation().budget("1000", OnExhausted.LowerPriority).admission();

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    containers      | {"name":"a"},
                    containers      | {"name":"a","image":"b","resources":{"limits":{"tencent.com/vcuda-core":"1"}}},
                    containers      | {},
                    env             | {"name":"A","value":"b"},
                    env             | {},
                    tolerations     | {"key":"a"},
                    annotations     | "k%d":"v",
                    labels          | "k%d":"v",
                    finalizers      | "a/b",
                    volumes         | {"name":"a"},
                    volumes         | {"name":"a","hostPath":{"path":"/b"}},
                    managedFields   | {"f:a":{}},
                    """)
    void aReviewTakesNoMoreThanIsReckonedForIt(String where, String piece) {
        mayNotTakeMore(where, piece, LENGTH);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{},",
                "{\"name\":\"a\",\"resources\":{\"limits\":{\"tencent.com/vcuda-core\":\"1\"}}},"
            })
    void asManyContainersAsAPodMayHaveTakeNoMore(String container) {
        mayNotTakeMore("containers", container, 499 * container.length());
    }

    private void mayNotTakeMore(String where, String piece, int length) {
        byte[] review = review(where, piece, length);

        long allocated = allocated(review, WebhookType.Mutate);

        System.out.printf(
                "%s %s: %.1f bytes for each%n", where, piece, (double) allocated / review.length);
        assertThat(allocated).isLessThan(ReviewMemory.of(WebhookType.Mutate, review.length));
    }

    private long allocated(byte[] review, WebhookType type) {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            try {
                admission.answer(type, review);
            } catch (MalformedReviewException e) {
                // Has more containers than a pod may have.
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private static byte[] review(String where, String piece, int length) {
        var pieces = new StringBuilder();
        for (int i = 0; pieces.length() < length; i++) {
            pieces.append(piece.replace("%d", String.valueOf(i)));
        }
        pieces.setLength(pieces.length() - 1);
        String metadata = "\"name\":\"a\"";
        String spec = "";
        String container = "";
        switch (where) {
            case "annotations", "labels" -> metadata += ",\"%s\":{%s}".formatted(where, pieces);
            case "finalizers", "managedFields" ->
                    metadata += ",\"%s\":[%s]".formatted(where, pieces);
            case "env" -> container = ",\"env\":[%s]".formatted(pieces);
            default -> spec = ",\"%s\":[%s]".formatted(where, pieces);
        }
        if (!where.equals("containers")) {
            spec =
                    """
                    ,"containers":[{"name":"a","image":"b"%s,"resources":{"limits":
                    {"tencent.com/vcuda-core":"50","tencent.com/vcuda-memory":"10"}}}]%s
                    """
                            .formatted(container, spec);
        }
        return """
        {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",
        "kind":{"group":"","version":"v1","kind":"Pod"},"namespace":"team-a","operation":"CREATE",
        "object":{"apiVersion":"v1","kind":"Pod","metadata":{%s},"spec":{"nodeSelector":{}%s}}}}
        """
                .formatted(metadata, spec)
                .getBytes(UTF_8);
    }
}
