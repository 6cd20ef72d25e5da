package io.gpusharing.cli.explain;

import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.NamespaceOption;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The pods that the objects of a file would make. */
record ManifestPods(List<PodTemplate> templates) {

    /**
     * Reads a file.
     *
     * @param file {@code -} is standard input
     * @throws Failure if nothing in it makes pods
     */
    static ManifestPods read(Path file, Console console) {
        List<Manifest> manifests = Manifest.read(file);
        var templates = new ArrayList<PodTemplate>();
        var others = new ArrayList<Manifest>();
        for (Manifest manifest : manifests) {
            if (!templates.addAll(PodTemplate.of(manifest))) {
                others.add(manifest);
            }
        }
        if (templates.isEmpty()) {
            Manifest first = others.getFirst();
            throw new Failure(
                    "%s: kind is %s; use %s"
                            .formatted(
                                    first.where(),
                                    first.kind().isEmpty() ? "not set" : first.kind(),
                                    PodTemplate.KINDS));
        }
        others.forEach(it -> console.note(it.title() + " makes no pods"));
        return new ManifestPods(templates);
    }

    boolean areSeveral() {
        return templates.size() > 1;
    }

    /**
     * Judges each as if it were the only one. What is refused stops none of the others.
     *
     * @param judge of a pod, as the API server admits it
     * @throws Failure if one of them is refused, once all have been judged
     */
    void judge(
            Cluster cluster, NamespaceOption namespace, Console console, Consumer<NewPod> judge) {
        int refused = 0;
        for (PodTemplate template : templates) {
            try {
                judge.accept(
                        NewPod.of(
                                cluster,
                                namespace.in(cluster, template.manifest().namespace()),
                                template,
                                console));
            } catch (Failure e) {
                if (!areSeveral()) {
                    throw e;
                }
                refused++;
                console.note("error: %s: %s".formatted(template.title(), e.getMessage()));
            }
        }
        if (refused > 0) {
            throw new Failure("%d of %d pods have no answer".formatted(refused, templates.size()));
        }
    }
}
