package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Listable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads pods page by page, each of them once: ten thousand at a time would take hundreds of
 * megabytes, for a moment.
 */
public final class PodPages {

    private static final long PAGE = 250;

    private PodPages() {}

    /**
     * Shows every pod; nothing of a page is kept when the next is read.
     *
     * @return the position of the list
     * @throws KubernetesClientException if the API server cannot be asked
     */
    public static String forEach(Listable<PodList> pods, Consumer<Pod> each) {
        String next = null;
        String position;
        do {
            PodList page = pods.list(options(next));
            page.getItems().forEach(each);
            next = page.getMetadata().getContinue();
            position = page.getMetadata().getResourceVersion();
        } while (next != null && !next.isEmpty());
        return position;
    }

    private static ListOptions options(@Nullable String next) {
        return new ListOptionsBuilder().withLimit(PAGE).withContinue(next).build();
    }
}
