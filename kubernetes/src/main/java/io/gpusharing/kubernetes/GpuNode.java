package io.gpusharing.kubernetes;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@code GpuNode} as the API server stores it; of its status only what is read here. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind("GpuNode")
@Plural("gpunodes")
public class GpuNode extends CustomResource<Void, GpuNode.Status> {

    /**
     * What the node's device plugin says.
     *
     * @param resources by which pods ask for its GPUs; null where an older one wrote it
     * @param refused pods that it did not let start; null where an older one wrote it
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Status(@Nullable List<String> resources, @Nullable List<Refused> refused) {}

    /**
     * A pod that the device plugin did not let start.
     *
     * @param since when the first attempt began that was refused, RFC 3339
     * @param until when a container was let start after all, or the pod was to end; null while it
     *     waits
     * @param isFinal whether no later attempt on this node can succeed
     * @param ran whether a container with GPUs had been let start before
     * @param reason in words
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Refused(
            String podUid,
            String namespace,
            String pod,
            String since,
            @Nullable String until,
            @JsonProperty("final") boolean isFinal,
            boolean ran,
            String reason) {}
}
