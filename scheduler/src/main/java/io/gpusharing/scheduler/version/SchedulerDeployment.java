package io.gpusharing.scheduler.version;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpusharing.kubernetes.WrittenFields;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The Deployment of which we are a part. */
final class SchedulerDeployment {

    private final KubernetesClient client;
    private final VersionProperties names;

    SchedulerDeployment(KubernetesClient client, VersionProperties names) {
        this.client = client;
        this.names = names;
    }

    /**
     * What it runs.
     *
     * @param repository of the image, without its tag
     * @param tag empty if the image is named by its digest, and so by nothing that could follow
     * @param stuck why it does not get there, in words; empty if nothing is known
     */
    record Image(String repository, Optional<String> tag, Optional<String> stuck) {

        static Image of(String image, Optional<String> stuck) {
            int colon = image.lastIndexOf(':');
            // A registry may have a port.
            boolean tagged = colon > image.lastIndexOf('/') && !image.contains("@");
            return tagged
                    ? new Image(
                            image.substring(0, colon),
                            Optional.of(image.substring(colon + 1)),
                            stuck)
                    : new Image(image, Optional.empty(), stuck);
        }
    }

    /** The image that it is to run; empty if there is no such Deployment. */
    Optional<Image> image() {
        GenericKubernetesResource found = deployment().get();
        if (found == null) {
            return Optional.empty();
        }
        return maps(found.get("spec", "template", "spec", "containers")).stream()
                .filter(it -> names.container().equals(it.get("name")))
                .map(it -> Image.of(String.valueOf(it.get("image")), stuck(found)))
                .findFirst();
    }

    private static Optional<String> stuck(GenericKubernetesResource deployment) {
        return maps(deployment.get("status", "conditions")).stream()
                .filter(it ->
                        "Progressing".equals(it.get("type")) && "False".equals(it.get("status")))
                .map(it -> String.valueOf(it.get("message")))
                .findFirst();
    }

    /** It runs this one from now on; pods of the last one stay until these are ready. */
    void run(String image) {
        deployment()
                .patch(
                        PatchContext.of(PatchType.STRATEGIC_MERGE),
                        """
                        {"spec": {"template": {"spec": {"containers": [{"name": "%s", "image": "%s"}]}}}}
                        """
                                .formatted(names.container(), image));
    }

    /** Whoever applies the Deployment may name another image: it is not ours. */
    void giveUp() {
        WrittenFields.giveUp(
                client,
                "/apis/apps/v1/namespaces/%s/deployments/%s"
                        .formatted(names.namespace(), names.deployment()),
                deployment());
    }

    private Resource<GenericKubernetesResource> deployment() {
        return client.genericKubernetesResources("apps/v1", "Deployment")
                .inNamespace(names.namespace())
                .withName(names.deployment());
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> maps(@Nullable Object list) {
        return list == null ? List.of() : (List<Map<String, Object>>) list;
    }
}
