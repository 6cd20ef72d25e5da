package io.gpusharing.webhook.pod;

import io.gpusharing.Names;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.injection.Injector;
import io.gpusharing.webhook.injection.Meters;
import io.gpusharing.webhook.injection.PodPatch;
import io.gpusharing.webhook.review.PodView;
import java.util.function.Predicate;

/**
 * A pod that is being decided about.
 *
 * @param pod as its author asks: what others have given to our own container is no request
 * @param place where it is to be metered
 * @param meters the containers of ours that it has already
 * @param patch what has been changed so far
 */
record NewPod(String namespace, PodView pod, Injector.Place place, Meters meters, PodPatch patch) {

    private static final String KUEUE_GROUP = "kueue.x-k8s.io/pod-group-name";

    /**
     * A pod as it was received. A LimitRange gives GPUs to our container as to every other where it
     * does not know better, and the next review would take them for the pod's: they are taken away
     * again. But only from a pod that asks for a GPU besides, so that whatever it gets is judged.
     *
     * @param gpuResource resources that ask for GPUs
     */
    static NewPod of(
            String namespace,
            PodView received,
            Surroundings surroundings,
            Injector injector,
            Predicate<String> gpuResource) {
        var place =
                new Injector.Place(
                        injector.serves(received)
                                && !isComparedWithOthers(received)
                                && !surroundings.unmetered().contains(namespace)
                                && !"false".equals(received.label(Names.INJECT_LABEL)),
                        surroundings.reportingCa(),
                        surroundings.unpullableIn(namespace),
                        surroundings.demands().apply(namespace));
        Meters meters =
                injector.metersIn(
                        received, PodStamp.freshMeter(received, surroundings.now()), place);
        if (!meters.equals(Meters.NONE)) {
            PodView pod = received.withoutGpusOf(meters.all());
            if (pod.request().asksFor(gpuResource)) {
                var patch = new PodPatch(pod);
                patch.takeGpus(received);
                return new NewPod(namespace, pod, place, meters, patch);
            }
        }
        return new NewPod(namespace, received, place, Meters.NONE, new PodPatch(received));
    }

    /**
     * Whether the pod is in a pod group of Kueue. Kueue counts members by their shape, in which are
     * init containers, requests and {@code spec.priority}: a later member of another shape waits
     * for ever. So all of them get the same from us, whatever differs when they are created: no
     * metering container, which may not fit into a quota or have no image just then, and no {@code
     * spec.priority} while Kueue looks, whichever class it is.
     */
    static boolean isComparedWithOthers(PodView pod) {
        return pod.label(KUEUE_GROUP) != null;
    }
}
