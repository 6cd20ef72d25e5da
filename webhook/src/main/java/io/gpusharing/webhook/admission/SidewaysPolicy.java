package io.gpusharing.webhook.admission;

import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import io.gpusharing.webhook.review.PodView.Volume;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/** Ways around the scheduler, the isolation or the device plugin, in pods that ask for GPUs. */
final class SidewaysPolicy {

    /**
     * The root, /dev, and in it the nodes of GPUs, which also stand in /dev/char by their numbers.
     * The policy for pods that ask for no GPU looks at the same paths.
     */
    private static final Pattern DEVICE_PATH =
            Pattern.compile("/([.]?/)*[.]?|/([.]?/)*dev(/([.]?/)*(nvidia.*|dri.*|char.*)?)?");

    private final PolicyProperties policy;

    SidewaysPolicy(PolicyProperties policy) {
        this.policy = policy;
    }

    /**
     * @param part whether the pod asks for a part of a GPU
     */
    void check(PodView pod, BooleanSupplier part, Findings findings) {
        if (!Objects.requireNonNullElse(pod.spec().nodeName(), "").isEmpty()) {
            findings.react(
                    policy.nodeName(),
                    "NODE_NAME",
                    "spec.nodeName is %s: the scheduler places GPU pods; use nodeSelector"
                            .formatted(pod.spec().nodeName()));
        }
        List<Container> containers = pod.allContainers();
        for (Container container : containers) {
            if (container.privileged() && part.getAsBoolean()) {
                findings.react(
                        policy.privilegedFraction(),
                        "PRIVILEGED_FRACTION",
                        "container \"%s\": privileged with a fraction sees every GPU of the node; drop privileged"
                                .formatted(container.name()));
            }
        }
        for (Volume volume : pod.volumes()) {
            if (isDevicePath(volume)) {
                findings.react(
                        policy.devicePaths(),
                        "DEVICE_PATH",
                        "volume \"%s\": hostPath %s reaches GPUs past their limits; remove it"
                                .formatted(volume.name(), volume.hostPath()));
            }
        }
        for (Container container : containers) {
            if (container.setsVisibleDevices()) {
                findings.react(
                        policy.visibleDevices(),
                        "VISIBLE_DEVICES",
                        "container \"%s\": NVIDIA_VISIBLE_DEVICES is set by the device plugin; remove it"
                                .formatted(container.name()));
            }
        }
        for (String key : cdiAnnotations(pod)) {
            findings.react(
                    policy.visibleDevices(),
                    "CDI_ANNOTATION",
                    "annotation %s is written by device plugins; remove it".formatted(key));
        }
    }

    /** In the order of their names. */
    private static Set<String> cdiAnnotations(PodView pod) {
        var found = new TreeSet<String>();
        if (pod.metadata().annotations() != null) {
            for (String key : pod.metadata().annotations().keySet()) {
                if (key.startsWith("cdi.k8s.io/")) {
                    found.add(key);
                }
            }
        }
        return found;
    }

    /**
     * @param fields where keys of ours stand that we have not written
     */
    void checkForged(List<String> fields, Findings findings) {
        for (String field : fields) {
            findings.react(
                    policy.forgedKeys(),
                    "FORGED_KEY",
                    "%s: only GPUSharing and administrators write it; remove it".formatted(field));
        }
    }

    private static boolean isDevicePath(Volume volume) {
        return volume.hostPath() != null && DEVICE_PATH.matcher(volume.hostPath()).matches();
    }
}
