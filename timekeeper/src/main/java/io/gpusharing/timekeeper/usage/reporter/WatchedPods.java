package io.gpusharing.timekeeper.usage.reporter;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.cluster.ClusterView;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.springframework.stereotype.Component;

/** Reads reporting pods from the cluster view. */
@Component
public class WatchedPods implements Pods {

    private final ClusterView view;
    private final RequestGrammars grammars;

    /** By identity: pods that ask for the same share one request. */
    private final Cache<PodRequest, Integer> known = Caffeine.newBuilder().weakKeys().build();

    public WatchedPods(ClusterView view, RequestGrammars grammars) {
        this.view = view;
        this.grammars = grammars;
    }

    @Override
    public Optional<ReportingPod> find(UUID uid) {
        return view.pod(uid).map(this::reporting);
    }

    @Override
    public boolean known() {
        return view.listed();
    }

    private ReportingPod reporting(PodFacts pod) {
        Instant scheduled = pod.lifecycle().scheduled();
        return new ReportingPod(
                pod.uid(),
                pod.placement().node(),
                scheduled == null ? pod.lifecycle().created() : scheduled,
                known.get(pod.request(), this::gpus),
                pod.lifecycle().terminal());
    }

    /** Each container with a fraction may stand on a GPU of its own. */
    private int gpus(PodRequest request) {
        long gpus = 0;
        for (ContainerRequest container : request.containers()) {
            PodRequest alone = new PodRequest(List.of(container));
            GpuShare share =
                    grammars.grammarOf(alone)
                            .map(grammar -> grammar.shareOn(alone, NodeFacts.UNKNOWN).share())
                            .orElse(GpuShare.NONE);
            gpus += Math.ceilDiv(Math.max(share.compute(), share.memory()), GpuShare.WHOLE);
        }
        return (int) Math.min(Math.max(1, gpus), 1_000);
    }
}
