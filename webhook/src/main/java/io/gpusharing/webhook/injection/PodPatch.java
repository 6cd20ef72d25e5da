package io.gpusharing.webhook.injection;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.cluster.PriorityClasses;
import io.gpusharing.webhook.decision.ObjectPatch;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.SerializedString;

/** What we add to one pod. */
public final class PodPatch extends ObjectPatch {

    private final PodView pod;
    private boolean hasPriority;

    /**
     * @param pod what is patched
     */
    public PodPatch(PodView pod) {
        super(pod.metadata());
        this.pod = pod;
        this.hasPriority = pod.spec().priority() != null;
    }

    /**
     * Sets the priority class, unless it is this one already. The API server's Priority plugin has
     * run before us and filled in the old class's number and policy; if they were kept although the
     * new class gives others, it would answer 403 when it runs again. Where it gives the same they
     * stay: what the plugin then has to write again would make the API server ask us twice.
     */
    public void priorityClass(String name, PriorityClasses classes) {
        if (name.equals(pod.spec().priorityClassName())) {
            return;
        }
        addText("/spec/priorityClassName", name);
        if (classes.gives(name, pod.spec().priority(), pod.spec().preemptionPolicy())) {
            return;
        }
        removePriority();
        if (pod.spec().preemptionPolicy() != null) {
            remove("/spec/preemptionPolicy");
        }
    }

    /**
     * Takes the class's number away. The API server writes it again once all webhooks were asked.
     */
    public void removePriority() {
        if (hasPriority) {
            remove("/spec/priority");
            hasPriority = false;
        }
    }

    /**
     * Adds the amounts that a completed request has more than the pod. Before anything is injected:
     * then init containers move.
     */
    public void complete(PodRequest completed) {
        List<ContainerRequest> containers = completed.containers();
        int apps = pod.spec().containers().size();
        for (int i = 0; i < containers.size(); i++) {
            boolean app = i < apps;
            Container present =
                    app ? pod.spec().containers().get(i) : pod.initContainers().get(i - apps);
            String resources =
                    "/spec/%s/%d/resources/"
                            .formatted(app ? "containers" : "initContainers", app ? i : i - apps);
            add(resources + "limits/", containers.get(i).limits(), present.limits());
            add(resources + "requests/", containers.get(i).requests(), present.requests());
        }
    }

    private void add(String path, Map<String, Quantity> completed, Map<String, Quantity> present) {
        completed.forEach((resource, amount) -> {
            if (!present.containsKey(resource)) {
                addText(path + escaped(resource), amount.text());
            }
        });
    }

    /**
     * Takes GPUs away from init containers to which others gave them.
     *
     * @param received the pod as it is, of which the patched one leaves these GPUs out
     */
    public void takeGpus(PodView received) {
        for (int i = 0; i < received.initContainers().size(); i++) {
            Container given = received.initContainers().get(i);
            Container rest = pod.initContainers().get(i);
            String resources = "/spec/initContainers/%d/resources/".formatted(i);
            setToZero(resources + "limits/", given.limits(), rest.limits());
            setToZero(resources + "requests/", given.requests(), rest.requests());
        }
    }

    private void setToZero(String path, Map<String, Quantity> given, Map<String, Quantity> rest) {
        given.forEach((resource, amount) -> {
            if (!rest.containsKey(resource) && !amount.isZero()) {
                addText(path + escaped(resource), "0");
            }
        });
    }

    /** Takes init containers away, by name. */
    void removeInitContainers(List<String> names) {
        removeAll("/spec/initContainers/", pod.initContainers(), it -> names.contains(it.name()));
    }

    /** From the last to the first: the others keep their places. */
    private <T> void removeAll(String list, List<T> entries, Predicate<T> going) {
        for (int i = entries.size() - 1; i >= 0; i--) {
            if (going.test(entries.get(i))) {
                remove(list + i);
            }
        }
    }

    /** Says who places the pod. Nobody can change that later. */
    public void scheduler(String name) {
        addText("/spec/schedulerName", name);
    }

    /**
     * Adds the container as the first init container, and its volumes in the place of those of an
     * outdated one.
     */
    void inject(Sidecar.Parts parts) {
        if (pod.spec().initContainers() == null) {
            addList("/spec/initContainers", List.of(parts.container()));
        } else {
            addJson("/spec/initContainers/0", parts.container());
        }
        removeAll(
                "/spec/volumes/",
                pod.volumes(),
                volume -> parts.volumeNames().contains(volume.name()));
        append("/spec/volumes", pod.spec().volumes() == null, parts.volumes());
    }

    /** Adds registry credentials that the pod does not name yet. */
    void pullSecrets(List<String> names) {
        List<String> present = pod.spec().imagePullSecrets();
        var missing = new ArrayList<SerializableString>();
        for (String name : names) {
            if (present == null || !present.contains(name)) {
                missing.add(new SerializedString("{\"name\":\"" + name + "\"}"));
            }
        }
        append("/spec/imagePullSecrets", present == null, missing);
    }

    private void append(String path, boolean absent, List<SerializableString> entries) {
        if (entries.isEmpty()) {
            return;
        }
        if (absent) {
            addList(path, entries);
        } else {
            entries.forEach(entry -> addJson(path + "/-", entry));
        }
    }
}
