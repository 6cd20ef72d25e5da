package io.gpusharing.webhook.injection;

import io.gpusharing.webhook.cluster.Demands;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.injection.Sidecar.Parts;
import io.gpusharing.webhook.injection.Sidecar.Plan;
import io.gpusharing.webhook.review.PodView;
import org.jspecify.annotations.Nullable;

/** Has pods metered from inside where that can be, and never more than once. */
public final class Injector {

    /** Objects of more than 1.5 MiB do not fit into etcd; some bytes are left for others. */
    private static final int MAX_BYTES = 1_400 * 1024;

    private final Sidecar sidecar;

    public Injector(Sidecar sidecar) {
        this.sidecar = sidecar;
    }

    /**
     * Where a pod is to be metered.
     *
     * @param wanted whether it gets a metering container at all
     * @param ca what the container trusts, PEM; null while it is not known: then nothing is added,
     *     and nothing taken for ours
     * @param unpullable image that nobody can pull for now; null if all is well
     * @param demands what the namespace demands
     */
    public record Place(
            boolean wanted, @Nullable String ca, @Nullable String unpullable, Demands demands) {}

    /** Whether the site has pods metered from inside, and the pod runs where such a meter can. */
    public boolean serves(PodView pod) {
        return sidecar.isWanted() && pod.spec().platforms().mayBeLinux();
    }

    /**
     * The metering containers that the pod has already.
     *
     * @param stamped name of the container that we have just added to it, if this is so; null
     *     otherwise
     */
    public Meters metersIn(PodView pod, @Nullable String stamped, Place place) {
        String ca = place.ca();
        return ca == null ? Meters.NONE : sidecar.in(pod, stamped, ca, place.wanted());
    }

    /**
     * Adds the container to a pod that has none, in the place of an outdated one if there is one.
     *
     * @param priorityClass that the pod will have; null if none
     * @return the name of the container that meters this pod; null if it gets none
     */
    public @Nullable String inject(
            PodView pod,
            Meters meters,
            Place place,
            @Nullable String priorityClass,
            PodPatch patch,
            Findings findings) {
        patch.removeInitContainers(meters.outdated());
        if (meters.kept() != null) {
            return meters.kept();
        }
        String ca = place.ca();
        if (!place.wanted() || ca == null) {
            return null;
        }
        return switch (sidecar.planFor(pod, meters, ca, place.demands(), priorityClass)) {
            case Plan.Add _ when sidecar.image().equals(place.unpullable()) ->
                    leftOut("its image cannot be pulled for now", findings);
            case Plan.Add(Parts parts) when isTooLarge(pod, parts) ->
                    leftOut("the pod is too large", findings);
            case Plan.Add(Parts parts) -> {
                patch.inject(parts);
                patch.pullSecrets(sidecar.pullSecrets());
                yield parts.name();
            }
            case Plan.LeaveOut(String reason) -> leftOut(reason, findings);
        };
    }

    private static boolean isTooLarge(PodView pod, Parts parts) {
        return pod.source().length() + parts.container().charLength() > MAX_BYTES;
    }

    private static @Nullable String leftOut(String reason, Findings findings) {
        findings.warn("no metering container is added: " + reason);
        return null;
    }
}
