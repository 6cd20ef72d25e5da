package io.gpusharing.timekeeper.budget;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuBudget;

/** Writes the status of cluster-scoped objects of ours by server-side apply. */
public final class AppliedStatus {

    private AppliedStatus() {}

    /**
     * Makes it the status of an object; fields that we wrote before and do not name now go.
     *
     * @param metadata its name; with a uid, of that very object alone
     * @throws KubernetesClientException as the API server answers
     */
    public static void write(
            KubernetesClient client, String kind, ObjectMeta metadata, Object status) {
        var object = new GenericKubernetesResource();
        object.setApiVersion(GpuBudget.API_VERSION);
        object.setKind(kind);
        object.setMetadata(metadata);
        object.setAdditionalProperty("status", status);
        client.genericKubernetesResources(GpuBudget.API_VERSION, kind)
                .withName(metadata.getName())
                .subresource("status")
                .patch(
                        new PatchContext.Builder()
                                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                                .withFieldManager(Names.TIMEKEEPER)
                                .withForce(true)
                                .build(),
                        object);
    }
}
