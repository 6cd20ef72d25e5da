package io.gpusharing.webhook.injection;

import io.gpusharing.webhook.injection.SidecarResources.Amounts;
import io.gpusharing.webhook.review.PodView;

/**
 * How the container that meters has to be for one pod.
 *
 * @param suffix appended to our names where the pod uses them itself; mostly empty
 * @param rootPod the pod says user 0 for all containers: ours must name another one
 * @param resources what it asks for
 */
record SidecarForm(String suffix, boolean rootPod, Amounts resources) {

    static SidecarForm of(PodView pod, String suffix, Amounts resources) {
        Long user = pod.spec().runAsUser();
        return new SidecarForm(suffix, user != null && user == 0, resources);
    }
}
