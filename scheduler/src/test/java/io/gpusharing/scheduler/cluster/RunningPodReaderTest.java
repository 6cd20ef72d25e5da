package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.RunningPod.Stamps;
import io.gpusharing.sharing.Amounts;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods as the API server writes them and our client reads them: without most of it. */
class RunningPodReaderTest {

    private static final String POD =
            """
            {"apiVersion": "v1", "kind": "Pod",
             "metadata": {"name": "train-x7", "namespace": "team-a", "uid": "u-1",
               "labels": {"pod-group": "large"},
               "managedFields": [{"manager": "kubelet"}],
               "deletionTimestamp": "2026-11-26T12:00:30Z",
               "ownerReferences": [
                 {"apiVersion": "example.com/v1", "kind": "Queue", "name": "q", "uid": "q-1"},
                 {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j-1", "controller": true}]},
             "spec": {"nodeName": "n", "priority": -100, "preemptionPolicy": "Never",
               "overhead": {"memory": "1Mi"}, "resources": {"requests": {"cpu": "3"}},
               "containers": [{"name": "cuda", "image": "cuda",
                 "resources": {"limits": {"tencent.com/vcuda-core": "50"}, "requests": {"cpu": "1", "memory": "1Mi"}}}],
               "initContainers": [{"name": "load", "resources": {"requests": {"memory": "3Mi"}}}]},
             "status": {"phase": "Running", "startTime": "2026-11-26T11:00:00Z", "hostIP": "10.0.0.1"}}
            """;

    private final RunningPodReader reader = new RunningPodReader(Gangs.OF_JOBS);

    private static Gangs gangs(String label) {
        return new Gangs(List.of(label), Set.of("Job"));
    }

    private static Pod pod(String json) {
        return LeanObjects.serialization().unmarshal(json, Pod.class);
    }

    @Test
    void readsWhatDecidesWhetherItHasToGo() {
        var running = new RunningPodReader(Gangs.OF_JOBS).running(pod(POD));

        assertThat(running.uid()).isEqualTo("u-1");
        assertThat(running.priority()).isEqualTo(-100);
        assertThat(running.started()).isEqualTo(Instant.parse("2026-11-26T11:00:00Z"));
        assertThat(running.deletion()).isEqualTo(Instant.parse("2026-11-26T12:00:30Z"));
        assertThat(running.labels()).isEqualTo(Map.of("pod-group", "large"));
    }

    @Test
    void readsWhatAdmissionAndAdministratorsHaveWritten() {
        assertThat(reader.running(pod(POD)).stamps()).isEqualTo(new Stamps(false, false, false));
        assertThat(
                        reader.running(
                                        pod(
                                                POD.replace(
                                                        "\"labels\": {",
                                                        """
                                                        "annotations": {"gpusharing.io/standing": "OverBudget", "gpusharing.io/do-not-reclaim": "true"},
                                                        "labels": {"gpusharing.io/metered": "true",\
                                                        """)))
                                .stamps())
                .isEqualTo(new Stamps(true, true, true));
        assertThat(
                        reader.running(
                                        pod(
                                                POD.replace(
                                                        "\"labels\": {",
                                                        """
                                                        "annotations": {"gpusharing.io/standing": "InBudget", "gpusharing.io/do-not-reclaim": "false"},
                                                        "labels": {\
                                                        """)))
                                .stamps())
                .isEqualTo(new Stamps(false, false, false));
    }

    /** Or a pod of a budget that has time left would protect one that has none. */
    @Test
    void aPodOfAnotherNamespaceThatNamesTheSameJobIsInAnotherGang() {
        assertThat(new RunningPodReader(Gangs.OF_JOBS).running(pod(POD)).gang())
                .isNotEqualTo(
                        new RunningPodReader(Gangs.OF_JOBS)
                                .running(pod(POD.replace("team-a", "team-b")))
                                .gang());
    }

    @Test
    void theJobThatControlsItIsItsGangUnlessALabelNamesOne() {
        assertThat(new RunningPodReader(Gangs.OF_JOBS).running(pod(POD)).gang())
                .isEqualTo("team-a/job/j-1");
        assertThat(new RunningPodReader(gangs("pod-group")).running(pod(POD)).gang())
                .isEqualTo("team-a/pod-group=large");
        assertThat(new RunningPodReader(gangs("other")).running(pod(POD)).gang())
                .isEqualTo("team-a/job/j-1");
        assertThat(
                        new RunningPodReader(Gangs.OF_JOBS)
                                .running(pod(POD.replace("\"controller\": true", "\"x\": 1")))
                                .gang())
                .isEqualTo("u-1");
    }

    @Test
    void countsWhatItTakesAsKubeSchedulerDoes() {
        assertThat(RunningPodReader.requests(pod(POD)))
                .usingRecursiveComparison()
                .withComparatorForType(BigDecimal::compareTo, BigDecimal.class)
                .isEqualTo(
                        new Amounts(
                                Map.of(
                                        "cpu",
                                        BigDecimal.valueOf(3),
                                        "memory",
                                        BigDecimal.valueOf(4 << 20),
                                        "tencent.com/vcuda-core",
                                        BigDecimal.valueOf(50),
                                        "pods",
                                        BigDecimal.ONE)));
    }

    /** The API server takes all of these, and writes a day of the year 10000 of its own accord. */
    @Test
    void readsAmountsWithoutMeasureAndAStartInTheFarFuture() {
        Pod pod =
                pod(
                        POD.replace("2026-11-26T11:00:00Z", "10000-01-01T00:59:59Z")
                                .replace("\"cpu\": \"3\"", "\"cpu\": \"9e999\"")
                                .replace("\"memory\": \"3Mi\"", "\"memory\": \"1E-400\""));

        assertThat(reader.running(pod).started())
                .isEqualTo(Instant.parse("+10000-01-01T00:59:59Z"));
        assertThat(RunningPodReader.requests(pod).of("cpu")).isGreaterThan(BigDecimal.TEN.pow(900));
    }

    @Test
    void aPodThatHasNotStartedBeganLatestAndWithoutAPriorityIsOfZero() {
        var running =
                new RunningPodReader(Gangs.OF_JOBS)
                        .running(
                                pod(
                                        POD.replace("\"priority\": -100,", "")
                                                .replace("\"startTime\"", "\"x\"")));

        assertThat(running.started()).isEqualTo(Instant.MAX);
        assertThat(running.priority()).isZero();
    }

    @Test
    void aWaitingPodSaysWhetherItPreempts() {
        assertThat(reader.preemptor(pod(POD), List.of()).preempts()).isFalse();
        assertThat(
                        reader.preemptor(
                                        pod(POD.replace("Never", "PreemptLowerPriority")),
                                        List.of())
                                .preempts())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"affinity\": {\"podAntiAffinity\": {\"requiredDuringSchedulingIgnoredDuringExecution\": [{\"topologyKey\": \"zone\"}]}},",
                "\"affinity\": {\"podAffinity\": {\"requiredDuringSchedulingIgnoredDuringExecution\": [{\"topologyKey\": \"zone\"}]}},",
                "\"resourceClaims\": [{\"name\": \"gpu\", \"resourceClaimName\": \"gpu\"}],",
                "\"topologySpreadConstraints\": [{\"maxSkew\": 1, \"topologyKey\": \"zone\", \"whenUnsatisfiable\": \"DoNotSchedule\"}],",
            })
    void nobodyGoesForAPodOfWhichOtherThingsThanAmountsDecide(String constraint) {
        String preempting = POD.replace("\"preemptionPolicy\": \"Never\",", "");

        assertThat(reader.preemptor(pod(preempting), List.of()).preempts()).isTrue();
        assertThat(
                        reader.preemptor(
                                        pod(
                                                preempting.replace(
                                                        "\"nodeName\"",
                                                        constraint + "\"nodeName\"")),
                                        List.of())
                                .preempts())
                .isFalse();
    }

    /** As reclaim judges it, too: kube-scheduler places it elsewhere where it must. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"affinity\": {\"podAntiAffinity\": {\"preferredDuringSchedulingIgnoredDuringExecution\": [{\"weight\": 1, \"podAffinityTerm\": {\"topologyKey\": \"zone\"}}]}},",
                "\"topologySpreadConstraints\": [{\"maxSkew\": 1, \"topologyKey\": \"zone\", \"whenUnsatisfiable\": \"ScheduleAnyway\"}],",
            })
    void whatAPodOnlyPrefersHindersNobody(String preference) {
        String preempting = POD.replace("\"preemptionPolicy\": \"Never\",", "");

        assertThat(
                        reader.preemptor(
                                        pod(
                                                preempting.replace(
                                                        "\"nodeName\"",
                                                        preference + "\"nodeName\"")),
                                        List.of())
                                .preempts())
                .isTrue();
    }

    @Test
    void norForOneThatWantsAPortOfTheNode() {
        String preempting = POD.replace("\"preemptionPolicy\": \"Never\",", "");
        String port =
                preempting.replace(
                        "\"image\": \"cuda\",",
                        "\"ports\": [{\"containerPort\": 80, \"hostPort\": 80}],");

        assertThat(reader.preemptor(pod(port), List.of()).preempts()).isFalse();
        assertThat(
                        reader.preemptor(pod(port.replace(", \"hostPort\": 80", "")), List.of())
                                .preempts())
                .isTrue();
    }
}
