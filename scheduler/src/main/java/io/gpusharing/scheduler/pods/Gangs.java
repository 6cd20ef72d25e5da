package io.gpusharing.scheduler.pods;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuEviction;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which pods go together or not at all: those of one group by a label that the site names, else
 * those of one Job. Half of them would be of no use to whoever runs them.
 *
 * @param label whose value names a gang within its namespace; empty for none
 */
public record Gangs(String label) {

    /**
     * Of these gangs, by how many pods they have, those that no plan could name: they are none,
     * lest their size protect their pods, which go one by one.
     */
    public static Set<String> tooLarge(Map<String, Integer> sizes) {
        return sizes.entrySet().stream()
                .filter(gang -> gang.getValue() > GpuEviction.MOST_VICTIMS)
                .map(Map.Entry::getKey)
                .collect(toSet());
    }

    /**
     * Names the gang of a pod: the same for all of it, and its own UID where it goes alone. It is
     * one namespace's, whatever a pod's owner writes: a pod of another budget would protect it.
     */
    public String of(Pod pod) {
        var metadata = pod.getMetadata();
        String group =
                label.isEmpty() || metadata.getLabels() == null
                        ? null
                        : metadata.getLabels().get(label);
        if (group != null) {
            return metadata.getNamespace() + "/" + group;
        }
        return requireNonNullElse(metadata.getOwnerReferences(), List.<OwnerReference>of()).stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                .filter(owner -> "Job".equals(owner.getKind()))
                .map(job -> metadata.getNamespace() + "/job/" + job.getUid())
                .findFirst()
                .orElse(metadata.getUid());
    }
}
