package io.gpusharing.kubernetes;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@code GpuCorrection} as the API server stores it. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind(GpuCorrection.KIND)
@Plural("gpucorrections")
public class GpuCorrection extends CustomResource<GpuCorrection.Spec, GpuCorrection.Status> {

    /** As manifests name it. */
    public static final String KIND = "GpuCorrection";

    /** Entries in a status: those of eight days of one pod. The ledger has all of them. */
    public static final int MOST_ENTRIES = 200;

    /**
     * What a span of a pod should have been charged. It cannot be changed.
     *
     * @param budget on whose account
     * @param from whole second, RFC 3339
     * @param to first second that it does not mean, RFC 3339
     * @param rate micro-GPUs that the span should have been charged; 0 gives all of it back
     * @param reason for whoever reads the ledger later
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Spec(String budget, Pod pod, String from, String to, long rate, String reason) {}

    /** A pod, by its UID or by namespace and name. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Pod(@Nullable String uid, @Nullable String namespace, @Nullable String name) {}

    /**
     * What became of it: either it was written, or it was refused.
     *
     * @param written when the ledger took it, RFC 3339; null if it was refused
     * @param pod UID
     * @param entries what was written, oldest first, {@value #MOST_ENTRIES} at most
     * @param entryCount how many were written
     * @param amount difference in micro-GPU-seconds, negative where it gives back
     * @param gpuMinutes the same in minutes of a whole GPU, for people
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            @Nullable String written,
            @Nullable String pod,
            @Nullable List<Entry> entries,
            @Nullable Integer entryCount,
            @Nullable Long amount,
            @Nullable String gpuMinutes,
            @Nullable Refused refused) {

        /** One that the ledger did not take. */
        public static Status refused(Refused refused) {
            return new Status(null, null, null, null, null, null, refused);
        }

        /** Whether nothing is to be done any more. */
        @JsonIgnore
        public boolean isDone() {
            return written != null || refused != null;
        }
    }

    /**
     * What was written of a span.
     *
     * @param rate difference in micro-GPUs, negative where it gives back
     * @param amount difference in micro-GPU-seconds
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Entry(String from, String to, String namespace, long rate, long amount) {}

    /**
     * Why it was not written.
     *
     * @param rule the rule of the ledger, one word
     * @param message a sentence, with the number that the rule allows
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Refused(String rule, String message) {}
}
