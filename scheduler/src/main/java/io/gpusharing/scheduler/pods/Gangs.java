package io.gpusharing.scheduler.pods;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.GpuEviction;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which pods go together or not at all, since half of them would be of no use to whoever runs them:
 * those with the same value of a label that names a group, else those that one controller owns. The
 * site lists both; where a pod has several of the labels, the first of the list counts.
 *
 * @param labels keys of labels whose value names a gang within its namespace
 * @param owners kinds of controllers whose pods are a gang, for instance {@code Job}
 */
public record Gangs(List<String> labels, Set<String> owners) {

    /** The pods of a Job are a gang, and no label names one. */
    public static final Gangs OF_JOBS = new Gangs(List.of(), Set.of("Job"));

    /** Only pods of an indexed Job have it. */
    private static final String INDEX = "batch.kubernetes.io/job-completion-index";

    public Gangs {
        labels = List.copyOf(labels);
        owners = Set.copyOf(owners);
    }

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
        return Stream.concat(byLabel(pod), byOwner(pod))
                .map(gang -> pod.getMetadata().getNamespace() + "/" + gang)
                .findFirst()
                .orElse(pod.getMetadata().getUid());
    }

    /** Whether a label alone says that pods are this gang. */
    public static boolean isNamedByLabel(String gang) {
        return gang.indexOf('=') >= 0;
    }

    /**
     * Whether a pod may be of no use until all of its gang run. The pods of a Job may work one
     * after another, unless they are numbered.
     */
    public boolean startsTogether(Pod pod) {
        return byLabel(pod).findAny().isPresent()
                || byOwner(pod).anyMatch(it -> !it.startsWith("job/"))
                || (byOwner(pod).findAny().isPresent() && labelsOf(pod).containsKey(INDEX));
    }

    private Stream<String> byLabel(Pod pod) {
        Map<String, String> own = labelsOf(pod);
        return labels.stream()
                .filter(key -> !requireNonNullElse(own.get(key), "").isEmpty())
                .map(key -> key + "=" + own.get(key));
    }

    private Stream<String> byOwner(Pod pod) {
        return requireNonNullElse(pod.getMetadata().getOwnerReferences(), List.<OwnerReference>of())
                .stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                .filter(owner -> owner.getKind() != null && owners.contains(owner.getKind()))
                .map(owner -> owner.getKind().toLowerCase(Locale.ROOT) + "/" + owner.getUid());
    }

    private static Map<String, String> labelsOf(Pod pod) {
        return requireNonNullElse(pod.getMetadata().getLabels(), Map.of());
    }
}
