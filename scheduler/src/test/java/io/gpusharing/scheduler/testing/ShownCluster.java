package io.gpusharing.scheduler.testing;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.GpuReservation;
import io.gpusharing.kubernetes.ObjectInformer.Handler;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.ClusterFollower;
import io.gpusharing.scheduler.cluster.ClusterSight;
import io.gpusharing.scheduler.cluster.LeanObjects;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Plays the watches of a fake API server: shows whoever follows the cluster what that would list
 * now, without a request to it, so that those which a test counts are others'.
 */
public final class ShownCluster implements ClusterSight {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final RecordingApiServer api;
    private final UnreadableObjects unreadable;
    private final KubernetesSerialization objects = LeanObjects.serialization();
    private final List<Kind<?>> kinds;
    private Optional<String> unseen = Optional.empty();

    private record Kind<T extends HasMetadata>(
            String plural,
            Class<T> type,
            Handler<T> handler,
            Set<Integer> none,
            Map<String, T> shown) {

        Kind(String plural, Class<T> type, Handler<T> handler, Integer... none) {
            this(plural, type, handler, Set.of(none), new HashMap<>());
        }
    }

    /**
     * @param unreadable takes what the follower cannot read
     */
    public ShownCluster(
            RecordingApiServer api,
            ClusterFollower follower,
            DisruptionBudgets disruptions,
            UnreadableObjects unreadable) {
        this.api = api;
        this.unreadable = unreadable.ofFollower();
        this.kinds =
                List.of(
                        new Kind<>("nodes", Node.class, follower.nodes()),
                        new Kind<>("namespaces", Namespace.class, follower.namespaces()),
                        new Kind<>("pods", Pod.class, follower.pods()),
                        new Kind<>("gpunodes", GpuNode.class, follower.gpuNodes(), 403, 404),
                        new Kind<>(
                                "gpureservations", GpuReservation.class, follower.reservations()),
                        new Kind<>(
                                "poddisruptionbudgets",
                                PodDisruptionBudget.class,
                                disruptions,
                                403));
    }

    @Override
    public Optional<String> whyUnseen() {
        return unseen;
    }

    /** Shows what there is now. */
    public void show() {
        unseen = Optional.empty();
        kinds.forEach(this::show);
    }

    private <T extends HasMetadata> void show(Kind<T> kind) {
        int refused = api.refusal("/" + kind.plural());
        if (refused != 0) {
            if (!kind.none().contains(refused)) {
                unseen = Optional.of(kind.plural() + " have not been listed yet");
            }
            return;
        }
        var gone = new HashMap<>(kind.shown());
        for (T object : listed(kind)) {
            String name =
                    object.getMetadata().getNamespace() + "/" + object.getMetadata().getName();
            gone.remove(name);
            kind.shown().put(name, object);
            unreadable.handOver(object, kind.handler()::onUpdate);
        }
        gone.forEach((name, object) -> {
            kind.shown().remove(name);
            kind.handler().onDelete(object);
        });
    }

    private <T extends HasMetadata> List<T> listed(Kind<T> kind) {
        var all = new ArrayList<T>();
        for (JsonNode item : JSON.readTree(api.listed("/" + kind.plural())).path("items")) {
            T object = objects.unmarshal(item.toString(), kind.type());
            if (object instanceof Pod pod) {
                // Others are not followed.
                var labels = new HashMap<String, String>();
                if (pod.getMetadata().getLabels() != null) {
                    labels.putAll(pod.getMetadata().getLabels());
                }
                labels.put(Names.METERED_LABEL, "true");
                pod.getMetadata().setLabels(labels);
            }
            all.add(object);
        }
        return all;
    }
}
