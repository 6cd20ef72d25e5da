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
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GpuEviction} as the API server stores it: pods that are to end, and what became of them.
 * It is written before anything is done to a pod, and is the receipt of that afterwards.
 */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind(GpuEviction.KIND)
@Plural("gpuevictions")
public class GpuEviction extends CustomResource<GpuEviction.Spec, GpuEviction.Status> {

    /** As manifests name it. */
    public static final String KIND = "GpuEviction";

    /** Objects of which the cluster's database should hold no more. */
    public static final int MOST = 5_000;

    /** Victims of one object. */
    public static final int MOST_VICTIMS = 512;

    /** Characters of a text; the definition takes no more. */
    private static final int MOST_CHARACTERS = 1024;

    /** Candidates that a plan names. Of the others it has the number alone. */
    public static final int MOST_CANDIDATES = 10;

    /** What pods are evicted for. */
    public enum Cause {
        /** The victims' budgets were used up, and a pod in budget needed their GPUs. */
        Reclaim,
        /** kube-scheduler ends pods of a lower priority for one of a higher. */
        Preemption,
        /** The device plugin did not let the pod start. */
        RefusedStart,
        /** The pod held more memory of a GPU than it was given. */
        MemoryOveruse
    }

    /** How far it has come. */
    public enum Phase {
        /** Nothing has been done. One without a status is of this phase. */
        Asked,
        /** The API server is being asked, or was when the one who asked it ended. */
        Planned,
        /** At least one victim ended by it. */
        Done,
        /**
         * The API server let nobody go. {@code RefusedStart} and {@code MemoryOveruse} are tried
         * again.
         */
        Refused,
        /** Nobody ended by it, and nobody will. */
        NotDone
    }

    /** What became of one victim. */
    public enum Result {
        /** The Eviction API let it go. */
        Evicted,
        /** It was deleted, because the Eviction API had refused to let it go for too long. */
        Deleted,
        /** kube-scheduler ended it. */
        Preempted,
        /** The API server did not let it go, for instance because of a PodDisruptionBudget. */
        Refused,
        /** It was not asked to go, because another victim of the same plan may not. */
        Spared,
        /** It was not there any more, or had ended. */
        Gone;

        /** Whether the pod ended by this plan. */
        public boolean ended() {
            return this == Evicted || this == Deleted || this == Preempted;
        }

        /** Whether the pod is still there. */
        public boolean remained() {
            return this == Refused || this == Spared;
        }
    }

    /**
     * What is to be done. It cannot be changed.
     *
     * @param cause a {@link Cause}
     * @param node where the waiter then fits; where the victim is if there is no waiter
     * @param victims at least one, {@value #MOST_VICTIMS} at most
     * @param waiter for whom room is made; null if for nobody
     * @param settlesAt by when the waiter should be bound, RFC 3339; null without a waiter
     * @param considered who else could have gone; null where nobody was compared
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Spec(
            String cause,
            String node,
            List<Victim> victims,
            @Nullable Waiter waiter,
            @Nullable String settlesAt,
            @Nullable Considered considered) {}

    /**
     * A pod that is to end.
     *
     * @param budget of its namespace; null if it has none
     * @param standing of that budget when it was planned, for instance {@code OverBudget}
     * @param gang what it goes together with; null if with nothing
     * @param why why this pod, a sentence
     * @param cost micro-GPU-seconds of its run, which may be lost; null where nobody reckoned it
     * @param refusedSince since when the API server has refused to evict it, RFC 3339; set if it is
     *     to be deleted when that is refused once more, else null
     * @param lowered whether it was admitted while its budget was used up, with the class of that:
     *     then it may go where the budget lowers and does not reclaim; null if it was not, or that
     *     does not matter
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Victim(
            String namespace,
            String name,
            String uid,
            String node,
            @Nullable String budget,
            @Nullable String standing,
            @Nullable String gang,
            String why,
            @Nullable Long cost,
            @Nullable String refusedSince,
            @Nullable Boolean lowered) {}

    /**
     * The pod for which room is made.
     *
     * @param budget of its namespace; null if it has none
     * @param workload what it belongs to, so that one that was made anew is known; null if unknown
     * @param since since when it has waited, RFC 3339; null if unknown
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Waiter(
            String namespace,
            String name,
            String uid,
            @Nullable String budget,
            @Nullable String workload,
            @Nullable String since) {}

    /**
     * Whom the plan could have taken instead.
     *
     * @param spared how many pods were spared, by why
     * @param nearest the first {@value #MOST_CANDIDATES} of them
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Considered(Map<String, Integer> spared, List<Candidate> nearest) {}

    /**
     * A pod that was considered.
     *
     * @param budget of its namespace; null if it has none
     * @param spared why it was spared; null if it could have gone as well
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Candidate(
            String namespace,
            String name,
            String uid,
            String node,
            @Nullable String budget,
            @Nullable String spared) {}

    /**
     * What became of it.
     *
     * @param phase a {@link Phase}
     * @param plannedAt when its being carried out began, RFC 3339 with microseconds; null before
     * @param victims what the API server answered, by the victim; null while nothing is known.
     *     While it is {@link Phase#Planned} what is known so far, and of a pod that is about to be
     *     deleted {@link Result#Deleted}
     * @param refusedSince since when the API server has let nobody go, RFC 3339; null if it has not
     *     refused
     * @param reason why nobody goes, of {@link Phase#NotDone}; a sentence
     * @param outcome what became of the waiter; null while that is open, and without a waiter
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Status(
            String phase,
            @Nullable String plannedAt,
            @Nullable List<Answer> victims,
            @Nullable String refusedSince,
            @Nullable String reason,
            @Nullable Outcome outcome) {}

    /**
     * What became of one victim.
     *
     * @param result a {@link Result}
     * @param detail in the API server's own words; null where it said nothing
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Answer(String uid, String result, @Nullable String detail) {}

    /**
     * What became of the waiter.
     *
     * @param helped whether it was bound in time, and to the node where room was made
     * @param detail the same in words
     * @param at when that was seen, RFC 3339
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Outcome(boolean helped, String detail, String at) {}

    /** Returns a text for people, cut where it is longer than the definition takes. */
    public static String inShort(String text) {
        return text.codePointCount(0, text.length()) <= MOST_CHARACTERS
                ? text
                : text.substring(0, text.offsetByCodePoints(0, MOST_CHARACTERS - 1)) + "…";
    }

    /**
     * What it is for.
     *
     * @throws IllegalArgumentException if a later version wrote a cause that this one does not know
     */
    @JsonIgnore
    public Cause cause() {
        return Cause.valueOf(getSpec().cause());
    }

    /**
     * How far it has come.
     *
     * @throws IllegalArgumentException if a later version wrote a phase that this one does not know
     */
    @JsonIgnore
    public Phase phase() {
        return getStatus() == null ? Phase.Asked : Phase.valueOf(getStatus().phase());
    }

    /** Returns whether the API server is asked again later where it let nobody go. */
    @JsonIgnore
    public boolean isAskedAgain() {
        return switch (cause()) {
            case RefusedStart, MemoryOveruse -> true;
            case Reclaim, Preemption -> false;
        };
    }

    /** Returns whether there is anything to do for it, now or later. If not, it is final. */
    @JsonIgnore
    public boolean isOpen() {
        return switch (phase()) {
            case Asked, Planned -> true;
            case Refused -> isAskedAgain();
            case Done ->
                    getSpec().waiter() != null
                            && getSpec().settlesAt() != null
                            && getStatus().outcome() == null;
            case NotDone -> false;
        };
    }

    /** Returns whether nobody ended by it, and nobody will. */
    @JsonIgnore
    public boolean isInVain() {
        return !isOpen() && phase() != Phase.Done;
    }

    /**
     * Returns whether something may be done for it and nothing is being done: who asked for it may
     * take it back.
     */
    @JsonIgnore
    public boolean isPending() {
        return isOpen() && (phase() == Phase.Asked || phase() == Phase.Refused);
    }
}
