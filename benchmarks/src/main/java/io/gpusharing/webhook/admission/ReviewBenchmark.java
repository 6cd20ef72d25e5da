package io.gpusharing.webhook.admission;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One review without HTTP, from the bytes of the AdmissionReview to the bytes of the response:
 * read, judged, measured against a budget, stamped, completed with the container that meters.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class ReviewBenchmark {

    /** As long as a real one. */
    private static final String CERTIFICATE =
            "-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n"
                    .formatted(("M".repeat(64) + "\n").repeat(9));

    /** File with the review. */
    @Param("benchmarks/admission/review.json")
    public String review = "";

    private final Admission admission =
            new Installation()
                    .reportingCa(CERTIFICATE)
                    .budget("100000", OnExhausted.LowerPriority)
                    .admission();

    private byte[] bytes = new byte[0];

    /** Reads the review. */
    @Setup
    public void read() throws IOException {
        bytes = Files.readAllBytes(Path.of(review));
    }

    /** The whole decision and its patch. */
    @Benchmark
    public byte[] answer() {
        return admission.answer(WebhookType.Mutate, bytes);
    }
}
