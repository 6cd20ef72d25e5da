package io.gpusharing.scheduler.extender;

import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.placement.Reason;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.cluster.SchedulerLease;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.Filtered.Chosen;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import io.gpusharing.scheduler.gpus.GpuPod;
import java.time.Clock;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Answers kube-scheduler. */
@RestController
class ExtenderController {

    private static final Logger log = LoggerFactory.getLogger(ExtenderController.class);

    private static final String NOT_KNOWN = "the extender has not read the cluster's GPUs yet";

    private static final String UNREADABLE =
            "the extender cannot read what the pod asks of GPUs; its log says why";

    private final ClusterKnowledge cluster;
    private final SchedulerLease lease;
    private final SchedulerName schedulerName;
    private final ClusterGpus gpus;
    private final GpuPodReader reader;
    private final UnreadableObjects unreadable;
    private final Binder binder;
    private final FilterMetrics metrics;
    private final Clock clock;

    ExtenderController(
            ClusterKnowledge cluster,
            SchedulerLease lease,
            SchedulerName schedulerName,
            ClusterGpus gpus,
            GpuPodReader reader,
            UnreadableObjects unreadable,
            Binder binder,
            FilterMetrics metrics,
            Clock clock) {
        this.cluster = cluster;
        this.lease = lease;
        this.schedulerName = schedulerName;
        this.gpus = gpus;
        this.reader = reader;
        this.unreadable = unreadable;
        this.binder = binder;
        this.metrics = metrics;
        this.clock = clock;
    }

    /**
     * On which node a pod's GPUs are. It names one node and keeps the GPUs there: kube-scheduler
     * chooses for the next pod before it has bound this one, and does not say which node it took.
     */
    @PostMapping("/filter")
    FilterAnswer filter(@RequestBody FilterQuestion question) {
        List<String> nodes = question.nodeNames();
        if (nodes == null) {
            return FilterAnswer.failed(
                    "the extender is called without node names: set nodeCacheCapable: true for it in kube-scheduler's configuration");
        }
        Optional<GpuPod> read = unreadable.read(question.pod(), reader::waiting);
        if (read.isEmpty()) {
            return FilterAnswer.failed(UNREADABLE);
        }
        GpuPod pod = read.get();
        if (pod.asks().isEmpty()) {
            return FilterAnswer.of(nodes);
        }
        if (!cluster.isKnown()) {
            return FilterAnswer.failed(NOT_KNOWN);
        }
        if (!schedulerName.follows(question.pod())) {
            return FilterAnswer.failed(schedulerName.whyNot());
        }
        Optional<String> unplaceable = GpuPodReader.unplaceable(question.pod(), pod.asks());
        if (unplaceable.isPresent()) {
            return FilterAnswer.failed(unplaceable.get());
        }
        return switch (gpus.filter(pod, nodes, clock.instant())) {
            case Chosen(var node, var others) -> {
                metrics.placed();
                yield FilterAnswer.of(Stream.concat(Stream.of(node), others.stream()).toList());
            }
            case Nowhere nowhere -> {
                metrics.refused(nowhere);
                yield new FilterAnswer(
                        List.of(),
                        texts(nowhere.failed(), pod),
                        texts(nowhere.unresolvable(), pod),
                        "");
            }
        };
    }

    private static Map<String, String> texts(Map<String, Reason> reasons, GpuPod pod) {
        var texts = new EnumMap<Reason, String>(Reason.class);
        var byNode = new HashMap<String, String>();
        reasons.forEach((node, reason) ->
                byNode.put(node, texts.computeIfAbsent(reason, it -> it.text(pod.asks()))));
        return byNode;
    }

    /** Prefers the node on which GPUs are kept for the pod, where it may choose from several. */
    @PostMapping("/prioritize")
    List<HostPriority> prioritize(@RequestBody FilterQuestion question) {
        String uid = question.pod().getMetadata().getUid();
        return Objects.requireNonNullElse(question.nodeNames(), List.<String>of()).stream()
                .map(node -> new HostPriority(node, gpus.isReserved(uid, node)))
                .toList();
    }

    /** Binds a pod, with the GPUs that were kept for it. */
    @PostMapping("/bind")
    BindAnswer bind(@RequestBody BindQuestion question) {
        // By half of the pods a GPU that is taken would look free.
        if (!cluster.isKnown()) {
            return new BindAnswer(NOT_KNOWN);
        }
        return new BindAnswer(
                lease.whyNot()
                        .or(() ->
                                binder.bind(
                                        question.namespace(),
                                        question.name(),
                                        question.uid(),
                                        question.node()))
                        .orElse(""));
    }

    /** Every answer has an error; of another status than 200 kube-scheduler shows no text. */
    @ExceptionHandler(RuntimeException.class)
    BindAnswer failed(RuntimeException problem) {
        log.atWarn().setCause(problem).log("a question was not answered");
        return new BindAnswer("the extender failed: " + problem.getMessage());
    }
}
