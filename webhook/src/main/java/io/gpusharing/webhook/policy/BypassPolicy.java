package io.gpusharing.webhook.policy;

import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.decision.Reaction;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/** Ways around the scheduler, the isolation or the device plugin, in pods that ask for GPUs. */
public final class BypassPolicy {

    /** JupyterHub's chart adds it to each of its pods, unless it is configured not to. */
    private static final String JUPYTERHUBS = "block-cloud-metadata";

    private final PolicyProperties policy;

    public BypassPolicy(PolicyProperties policy) {
        this.policy = policy;
    }

    /**
     * @param asksForAPart whether the pod asks for a part of a GPU
     */
    public void check(PodView pod, BooleanSupplier asksForAPart, Findings findings) {
        if (!Objects.requireNonNullElse(pod.spec().nodeName(), "").isEmpty()) {
            findings.react(
                    policy.nodeName(),
                    "NODE_NAME",
                    "spec.nodeName is %s: the scheduler places GPU pods; use nodeSelector"
                            .formatted(pod.spec().nodeName()));
        }
        List<Volume> devicePaths = devicePaths(pod);
        List<Container> containers = pod.allContainers();
        Set<String> cdi = cdiAnnotations(pod);
        if (devicePaths.isEmpty()
                && cdi.isEmpty()
                && containers.stream()
                        .noneMatch(it -> it.privileged() || it.setsVisibleDevices())) {
            return;
        }
        boolean part = asksForAPart.getAsBoolean();
        for (Container container : containers) {
            if (container.privileged() && part) {
                checkPrivileged(container, !devicePaths.isEmpty(), findings);
            }
        }
        for (Volume volume : devicePaths) {
            findings.react(
                    part ? policy.devicePaths() : policy.wholeGpuDevicePaths(),
                    "DEVICE_PATH",
                    "volume \"%s\": hostPath %s reaches GPUs past their limits; remove it"
                            .formatted(volume.name(), volume.hostPath()));
        }
        Reaction visible = part ? policy.visibleDevices() : policy.wholeGpuVisibleDevices();
        for (Container container : containers) {
            if (container.setsVisibleDevices()) {
                findings.react(
                        visible,
                        "VISIBLE_DEVICES",
                        "container \"%s\": NVIDIA_VISIBLE_DEVICES is set by the device plugin; remove it"
                                .formatted(container.name()));
            }
        }
        for (String key : cdi) {
            findings.react(
                    visible,
                    "CDI_ANNOTATION",
                    "annotation %s is written by device plugins; remove it".formatted(key));
        }
    }

    private void checkPrivileged(Container container, boolean devicePath, Findings findings) {
        if (container.asksForAGpu() || devicePath || container.setsVisibleDevices()) {
            findings.react(
                    policy.privilegedFraction(),
                    "PRIVILEGED_FRACTION",
                    "container \"%s\": privileged with a fraction sees every GPU of the node; drop privileged"
                            .formatted(container.name()));
        } else {
            findings.react(
                    policy.privilegedBeside(),
                    "PRIVILEGED_BESIDE",
                    "container \"%s\": privileged sees every GPU; %s"
                            .formatted(
                                    container.name(),
                                    container.name().equals(JUPYTERHUBS)
                                            ? "set singleuser.cloudMetadata.blockWithIptables=false"
                                            : "drop privileged, or move it to a pod without a GPU"));
        }
    }

    /** In the order of their names. */
    private static Set<String> cdiAnnotations(PodView pod) {
        var found = new TreeSet<String>();
        if (pod.metadata().annotations() != null) {
            for (String key : pod.metadata().annotations().keySet()) {
                if (key.startsWith("cdi.k8s.io/") || key.startsWith("nvidia.cdi.k8s.io/")) {
                    found.add(key);
                }
            }
        }
        return found;
    }

    /**
     * @param fields where keys of ours stand that we have not written
     */
    public void checkForged(List<String> fields, Findings findings) {
        for (String field : fields) {
            findings.react(
                    policy.forgedKeys(),
                    "FORGED_KEY",
                    "%s: nobody but GPUSharing writes it here; remove it".formatted(field));
        }
    }

    private static List<Volume> devicePaths(PodView pod) {
        var found = new ArrayList<Volume>();
        for (Volume volume : pod.volumes()) {
            if (volume.hostPath() != null && DevicePath.matches(volume.hostPath())) {
                found.add(volume);
            }
        }
        return found;
    }
}
