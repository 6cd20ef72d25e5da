package io.gpusharing.scheduler.extender;

import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.scheduler.cluster.GpuPodReader;
import io.gpusharing.scheduler.cluster.RunningPodReader;
import io.gpusharing.scheduler.cluster.SchedulerLease;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.scheduler.preemption.Preemption;
import io.gpusharing.scheduler.preemption.Preemptions;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * Answers kube-scheduler whom to preempt. It evicts whomever we name, and looks neither at
 * priorities nor at PodDisruptionBudgets.
 */
@RestController
class PreemptController {

    private static final Logger log = LoggerFactory.getLogger(PreemptController.class);

    private final ClusterKnowledge cluster;
    private final SchedulerLease lease;
    private final SchedulerName schedulerName;
    private final GpuPodReader gpuReader;
    private final UnreadableObjects unreadable;
    private final RunningPodReader reader;
    private final Preemptions preemptions;
    private final ClusterGpus gpus;
    private final RoomMaking reservations;

    PreemptController(
            ClusterKnowledge cluster,
            SchedulerLease lease,
            SchedulerName schedulerName,
            GpuPodReader gpuReader,
            UnreadableObjects unreadable,
            RunningPodReader reader,
            Preemptions preemptions,
            ClusterGpus gpus,
            RoomMaking reservations) {
        this.cluster = cluster;
        this.lease = lease;
        this.schedulerName = schedulerName;
        this.gpuReader = gpuReader;
        this.unreadable = unreadable;
        this.reader = reader;
        this.preemptions = preemptions;
        this.gpus = gpus;
        this.reservations = reservations;
    }

    /** Names one node and its victims, or nobody. For pods without GPUs of ours nothing changes. */
    @PostMapping("/preempt")
    PreemptAnswer preempt(@RequestBody PreemptQuestion question) {
        Map<String, MetaVictims> nodes = question.nodes();
        Optional<GpuPod> read = unreadable.read(question.pod(), gpuReader::waiting);
        if (read.isEmpty()) {
            return PreemptAnswer.NOBODY;
        }
        GpuPod pod = read.get();
        if (pod.asks().isEmpty()) {
            return new PreemptAnswer(nodes);
        }
        // Nobody goes for a pod that filter would refuse, nor for a scheduler that does not lead.
        if (!cluster.isKnown()
                || !schedulerName.follows(question.pod())
                || GpuPodReader.unplaceable(question.pod(), pod.asks()).isPresent()
                // Last, for it may ask the API server.
                || lease.whyNot().isPresent()) {
            return PreemptAnswer.NOBODY;
        }
        var candidates = new HashMap<String, Set<String>>();
        nodes.forEach((node, victims) -> candidates.put(node, victims.uids()));
        try {
            return unreadable
                    .read(question.pod(), it -> reader.preemptor(it, pod.asks()))
                    .flatMap(preemptor -> preemptions.choose(preemptor, candidates))
                    .map(chosen -> answer(pod, chosen))
                    .orElse(PreemptAnswer.NOBODY);
        } catch (RuntimeException e) {
            gpus.unanswered(pod);
            throw e;
        }
    }

    private PreemptAnswer answer(GpuPod pod, Preemption chosen) {
        reservations.keep(pod, chosen);
        log.atInfo()
                .addKeyValue("pod", pod.namespace() + "/" + pod.name())
                .addKeyValue("node", chosen.node())
                .addKeyValue(
                        "victims",
                        chosen.victims().stream()
                                .map(it -> it.namespace() + "/" + it.name())
                                .toList())
                .log("preempting pods");
        return new PreemptAnswer(
                Map.of(
                        chosen.node(),
                        MetaVictims.of(chosen.victims(), chosen.cost().violations())));
    }

    /** No answer but an empty one is safe. */
    @ExceptionHandler(RuntimeException.class)
    PreemptAnswer failed(RuntimeException problem) {
        log.atWarn().setCause(problem).log("whom to preempt was not answered");
        return PreemptAnswer.NOBODY;
    }
}
