package io.gpusharing.e2e.recording;

import static io.gpusharing.e2e.recording.LifeContext.IGNORES_SIGTERM;
import static io.gpusharing.e2e.recording.LifeContext.RUN;
import static io.gpusharing.e2e.recording.LifeContext.container;

import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Every begin, middle and end of a pod that was thought of; each is lived by pods of its own. */
final class Lives {

    private static final String NODE = "gpu-node-2";

    private Lives() {}

    static List<Life> all() {
        return List.of(
                // Begins.
                Life.of(
                        "begin-at-once",
                        "created; ran; deleted",
                        life -> {
                            life.create(RUN);
                            life.untilReady();
                            life.rest(3);
                        }),
                waits("begin-unschedulable-30-s", 30),
                waits("begin-unschedulable-5-min", 300),
                Life.of(
                        "begin-gated",
                        "created with a scheduling gate, which was removed after 20 s",
                        life -> {
                            life.create(RUN, Lives::gated);
                            life.rest(20);
                            life.kubectl(
                                    "patch",
                                    "pod",
                                    "pod",
                                    "--type=json",
                                    "-p=[{\"op\":\"remove\",\"path\":\"/spec/schedulingGates\"}]");
                            life.untilReady();
                            life.rest(3);
                        }),
                Life.of(
                        "begin-preempts",
                        "the only place was taken by a pod of lower priority; the scheduler nominated"
                                + " the node, preempted that one, and bound this one when it was gone",
                        life -> preempts(life, "victim", "pod")),
                Life.of(
                        "begin-bound-by-another-scheduler",
                        "created with another schedulerName; that one bound it after 15 s",
                        life -> {
                            life.create(RUN, spec -> spec.setSchedulerName("another-scheduler"));
                            life.rest(15);
                            life.bind("pod", NODE);
                            life.untilReady();
                            life.rest(3);
                        }),
                Life.of(
                        "begin-node-name-preset",
                        "created by an administrator in kube-system with nodeName set: no scheduler",
                        life -> {
                            life.inKubeSystem();
                            life.create(life.pod(life.name(), RUN, spec -> spec.setNodeName(NODE)));
                            life.until(life.name(), "is ready", 60, Version::ready);
                            life.rest(3);
                        }),
                Life.of(
                        "begin-mirror-pod",
                        "a manifest in the kubelet's own folder; removed from there after some seconds",
                        life -> {
                            life.inKubeSystem();
                            life.staticPod(NODE, life.pod(life.name(), RUN, spec -> {}));
                            String name = life.name() + "-" + NODE;
                            life.until(name, "is ready", 60, Version::ready);
                            life.rest(3);
                            life.noStaticPod(NODE);
                            life.until(name, "is gone", 60, Version::removed);
                        }),
                Life.of(
                        "begin-status-written-by-an-autoscaler",
                        "unschedulable for 25 s; meanwhile somebody else wrote a condition of its"
                                + " status, as autoscalers and queues do",
                        life -> {
                            life.create(RUN, spec -> nowhere(spec, life.name()));
                            life.rest(10);
                            life.kubectl(
                                    "patch",
                                    "pod",
                                    "pod",
                                    "--subresource=status",
                                    "--field-manager=cluster-autoscaler",
                                    "-p={\"status\":{\"conditions\":[{\"type\":\"autoscaler.example.com/Considered\",\"status\":\"True\",\"lastTransitionTime\":\""
                                            + Instant.now().truncatedTo(ChronoUnit.SECONDS)
                                            + "\"}]}}");
                            life.rest(15);
                            life.givePlace();
                            life.untilReady();
                            life.rest(3);
                        }),
                Life.of(
                        "begin-image-pull-fails",
                        "its image could not be pulled for a minute",
                        life -> {
                            Pod pod = life.pod("pod", RUN, spec -> on(NODE, spec));
                            String image = "localhost/" + life.name() + ":1";
                            life.untagImage(NODE, image);
                            pod.getSpec().getContainers().getFirst().setImage(image);
                            life.create(pod);
                            life.until("waits for its image", it -> it.hasReason("ErrImagePull"));
                            life.rest(60);
                            life.tagImage(NODE, image);
                            life.untilReady();
                            life.rest(3);
                        }),
                // Middles.
                Life.of(
                        "middle-restarts-always",
                        "restartPolicy Always; its container failed twice after a second",
                        life -> {
                            life.create(
                                    failsUntil(2, RUN),
                                    spec -> {
                                        spec.setRestartPolicy("Always");
                                        remembers(spec);
                                    });
                            life.until("was restarted", it -> it.restarts() == 2 && it.ready());
                            life.rest(3);
                        }),
                Life.of(
                        "middle-restarts-on-failure",
                        "restartPolicy OnFailure; its container failed once, then succeeded",
                        life -> {
                            life.create(
                                    failsUntil(1, "sleep 2"),
                                    spec -> {
                                        spec.setRestartPolicy("OnFailure");
                                        remembers(spec);
                                    });
                            life.untilTerminal();
                        }),
                Life.of(
                        "middle-restart-rules",
                        "restartPolicy Never, but a rule of the container restarts exit code 42, which"
                                + " came once",
                        life -> {
                            life.create(
                                    "[ -e /kept/once ] && sleep 2 && exit 0; touch /kept/once; exit 42",
                                    spec -> {
                                        remembers(spec);
                                        var container = spec.getContainers().getFirst();
                                        container.setRestartPolicy("Never");
                                        container.setAdditionalProperty(
                                                "restartPolicyRules",
                                                List.of(
                                                        Map.of(
                                                                "action",
                                                                "Restart",
                                                                "exitCodes",
                                                                Map.of(
                                                                        "operator",
                                                                        "In",
                                                                        "values",
                                                                        List.of(42)))));
                                    });
                            life.untilTerminal();
                        }),
                Life.of(
                        "middle-init-containers",
                        "two init containers of three seconds each",
                        life -> {
                            life.create(
                                    "sleep 3",
                                    spec ->
                                            spec.setInitContainers(
                                                    List.of(
                                                            container("first", "sleep 3"),
                                                            container("second", "sleep 3"))));
                            life.untilTerminal();
                        }),
                Life.of(
                        "middle-native-sidecar",
                        "a native sidecar of the user's own, which took five seconds to end",
                        life -> {
                            var sidecar =
                                    container(
                                            "helper",
                                            "trap 'sleep 5; exit 0' TERM; while :; do sleep 0.2; done");
                            sidecar.setRestartPolicy("Always");
                            life.create(
                                    "sleep 4", spec -> spec.setInitContainers(List.of(sidecar)));
                            life.untilTerminal();
                        }),
                Life.of(
                        "middle-resized-in-place",
                        "its CPU request was raised while it ran",
                        life -> {
                            life.create(RUN, Lives::asksForCpu);
                            life.untilReady();
                            life.kubectl(
                                    "patch",
                                    "pod",
                                    "pod",
                                    "--subresource=resize",
                                    "-p={\"spec\":{\"containers\":[{\"name\":\"cuda\",\"resources\":{\"requests\":{\"cpu\":\"20m\"}}}]}}");
                            life.until(
                                    "was resized",
                                    it ->
                                            it.pod()
                                                    .at(
                                                            "/status/containerStatuses/0/resources/requests/cpu")
                                                    .asText()
                                                    .equals("20m"));
                            life.rest(3);
                        }),
                Life.of(
                        "middle-killed-by-liveness",
                        "restartPolicy Always; its liveness probe failed after five seconds",
                        life -> {
                            life.create(
                                    "touch /tmp/live; sleep 5; rm /tmp/live; " + RUN,
                                    spec -> {
                                        spec.setRestartPolicy("Always");
                                        spec.setContainers(
                                                List.of(
                                                        new ContainerBuilder(
                                                                        spec.getContainers()
                                                                                .getFirst())
                                                                .withNewLivenessProbe()
                                                                .withPeriodSeconds(1)
                                                                .withFailureThreshold(2)
                                                                .withNewExec()
                                                                .withCommand("cat", "/tmp/live")
                                                                .endExec()
                                                                .endLivenessProbe()
                                                                .build()));
                                    });
                            life.until("was restarted", it -> it.restarts() == 1 && it.ready());
                        }),
                Life.of(
                        "middle-out-of-memory",
                        "restartPolicy OnFailure; its container crossed its memory limit once",
                        life -> {
                            life.create(
                                    "[ -e /kept/once ] && sleep 2 && exit 0; touch /kept/once;"
                                            + " x=0123456789; while :; do x=$x$x$x$x; done",
                                    spec -> {
                                        spec.setRestartPolicy("OnFailure");
                                        remembers(spec);
                                        spec.getContainers()
                                                .getFirst()
                                                .getResources()
                                                .getLimits()
                                                .put("memory", new Quantity("24Mi"));
                                    });
                            life.untilTerminal();
                        }),
                // Ends.
                Life.of(
                        "end-succeeded",
                        "its container ended by itself after four seconds",
                        life -> {
                            life.create("sleep 4");
                            life.untilTerminal();
                        }),
                Life.of(
                        "end-failed",
                        "its container failed after four seconds",
                        life -> {
                            life.create("sleep 4; exit 3");
                            life.untilTerminal();
                        }),
                Life.of(
                        "end-deleted-with-grace-0",
                        "deleted by force, with no grace, while it ran",
                        life -> {
                            life.create(IGNORES_SIGTERM);
                            life.untilReady();
                            life.rest(3);
                            life.delete("--grace-period=0", "--force");
                            life.until("is gone", Version::removed);
                        }),
                deleted(
                        "end-deleted-with-grace-5",
                        5,
                        IGNORES_SIGTERM,
                        "its container ignored SIGTERM"),
                deleted("end-deleted-with-grace-30", 30, RUN, "its container ended at SIGTERM"),
                Life.of(
                        "end-deleted-with-a-year-of-grace",
                        "deleted with 31536000 s of grace, which its container used for 20 s; then"
                                + " deleted by force",
                        life -> {
                            life.create(
                                    IGNORES_SIGTERM,
                                    spec -> spec.setTerminationGracePeriodSeconds(31536000L));
                            life.untilReady();
                            life.rest(3);
                            life.delete();
                            life.rest(20);
                            life.delete("--grace-period=0", "--force");
                            life.until("is gone", Version::removed);
                        }),
                Life.of(
                        "end-held-by-a-finalizer",
                        "deleted, its container ended, and a finalizer held the object for 20 s more",
                        life -> {
                            Pod pod = life.pod("pod", RUN, spec -> {});
                            pod.getMetadata().setFinalizers(List.of("example.com/held"));
                            life.create(pod);
                            life.untilReady();
                            life.rest(3);
                            life.delete();
                            life.untilTerminal();
                            life.rest(20);
                            life.kubectl(
                                    "patch",
                                    "pod",
                                    "pod",
                                    "--type=merge",
                                    "-p={\"metadata\":{\"finalizers\":null}}");
                            life.until("is gone", Version::removed);
                        }),
                Life.of(
                        "end-evicted-by-the-api",
                        "evicted through the Eviction API with five seconds of grace",
                        life -> {
                            life.create(RUN, spec -> spec.setTerminationGracePeriodSeconds(5L));
                            life.untilReady();
                            life.rest(3);
                            life.evict("pod");
                            life.until("is gone", Version::removed);
                        }),
                Life.of(
                        "end-preempted",
                        "preempted by the scheduler for a pod of higher priority",
                        life -> preempts(life, "pod", "preemptor")),
                Life.of(
                        "end-evicted-by-the-kubelet",
                        "it wrote five times what its volume may hold, and ignored SIGTERM",
                        life -> {
                            life.create(
                                    "sleep 3; head -c 5000000 /dev/zero >/kept/much; "
                                            + IGNORES_SIGTERM,
                                    spec -> {
                                        remembers(spec);
                                        spec.getVolumes()
                                                .getFirst()
                                                .getEmptyDir()
                                                .setSizeLimit(new Quantity("1Mi"));
                                    });
                            life.untilTerminal();
                        }),
                Life.alone(
                        "end-rejected-after-a-kubelet-restart",
                        "a device of a plugin that had gone was held by a container that had ended;"
                                + " the kubelet was killed and started again, and rejected the pod",
                        life -> {
                            life.devicePlugin(NODE, true);
                            life.create(
                                    RUN,
                                    spec -> {
                                        on(NODE, spec);
                                        var first = container("first", "sleep 1");
                                        first.getResources()
                                                .setLimits(
                                                        Map.of(
                                                                "example.com/device",
                                                                new Quantity("1")));
                                        spec.setInitContainers(List.of(first));
                                    });
                            life.untilReady();
                            life.rest(3);
                            life.devicePlugin(NODE, false);
                            life.cluster().node("stop", NODE, "kubelet");
                            life.cluster().node("start", NODE, "kubelet");
                            life.until("was rejected", Version::terminal);
                        }),
                Life.of(
                        "end-rejected-out-of-cpu",
                        "bound by another scheduler to a node without room for it; the kubelet"
                                + " rejected it",
                        life -> {
                            Consumer<PodSpec> much =
                                    spec -> {
                                        spec.setSchedulerName("another-scheduler");
                                        spec.getContainers()
                                                .getFirst()
                                                .getResources()
                                                .setRequests(Map.of("cpu", new Quantity("1000")));
                                    };
                            life.create(RUN, much);
                            life.rest(3);
                            life.bind("pod", NODE);
                            life.untilTerminal();
                        }),
                Life.of(
                        "end-active-deadline",
                        "activeDeadlineSeconds of eight seconds were over",
                        life -> {
                            life.create(RUN, spec -> spec.setActiveDeadlineSeconds(8L));
                            life.untilTerminal();
                        }),
                Life.of(
                        "end-namespace-deleted",
                        "its namespace was deleted",
                        life -> {
                            life.create(RUN);
                            life.untilReady();
                            life.rest(3);
                            life.cluster()
                                    .kubectl()
                                    .run("delete", "namespace", life.namespace(), "--wait=false")
                                    .orFail();
                            life.until("is gone", Version::removed);
                        }),
                Life.alone(
                        "end-kubelet-restarted",
                        "it ended by itself while its kubelet was down for 15 s",
                        life -> {
                            life.create("sleep 8", spec -> on(NODE, spec));
                            life.untilReady();
                            life.cluster().node("stop", NODE, "kubelet");
                            life.rest(15);
                            life.cluster().node("start", NODE, "kubelet");
                            life.untilTerminal();
                        }),
                Life.alone(
                        "end-api-server-restarted",
                        "it ended by itself while the API server was down for 15 s",
                        life -> {
                            life.create("sleep 8", spec -> on(NODE, spec));
                            life.untilReady();
                            life.cluster().killApiServer();
                            life.rest(15);
                            life.cluster().resume();
                            life.untilTerminal();
                        }),
                Life.alone(
                        "end-node-lost-and-back",
                        "its kubelet was down until the pod was not ready; it came back after the"
                                + " taint manager had deleted the pod, and ended it",
                        life -> {
                            life.create(RUN, spec -> shortTolerations(NODE, spec));
                            life.untilReady();
                            life.cluster().node("stop", NODE, "kubelet");
                            life.until("was deleted", it -> it.has("DisruptionTarget", "True"));
                            life.rest(15);
                            life.cluster().node("start", NODE, "kubelet");
                            life.until("is gone", Version::removed);
                        }),
                // The last: its node is gone afterwards.
                Life.alone(
                        "end-node-lost-and-deleted",
                        "its kubelet was down; after the taint manager had deleted the pod the Node"
                                + " object was deleted, and the pod garbage collector removed the pod",
                        life -> {
                            life.create(RUN, spec -> shortTolerations(NODE, spec));
                            life.untilReady();
                            life.cluster().node("stop", NODE, "kubelet");
                            life.until("was deleted", it -> it.has("DisruptionTarget", "True"));
                            life.rest(5);
                            life.cluster().kubectl().run("delete", "node", NODE).orFail();
                            life.until("is gone", Version::removed);
                        }));
    }

    private static Life waits(String name, int seconds) {
        return Life.of(
                name,
                "no node had its label for " + seconds + " s, then one had",
                life -> {
                    life.create(RUN, spec -> nowhere(spec, life.name()));
                    life.rest(seconds);
                    life.givePlace();
                    life.untilReady();
                    life.rest(3);
                });
    }

    private static Life deleted(String name, long grace, String script, String how) {
        return Life.of(
                name,
                "deleted with " + grace + " s of grace; " + how,
                life -> {
                    life.create(script, spec -> spec.setTerminationGracePeriodSeconds(grace));
                    life.untilReady();
                    life.rest(3);
                    life.delete();
                    life.until("is gone", Version::removed);
                });
    }

    /** Both want the one place there is; the second has the higher priority. */
    private static void preempts(LifeContext life, String victim, String preemptor) {
        life.givePlace();
        String one = life.onlyOne();
        Consumer<PodSpec> there =
                spec -> {
                    nowhere(spec, life.name());
                    spec.setTerminationGracePeriodSeconds(5L);
                    spec.getContainers()
                            .getFirst()
                            .getResources()
                            .getLimits()
                            .put(one, new Quantity("1"));
                };
        life.priorityClass();
        life.create(life.pod(victim, IGNORES_SIGTERM, there));
        life.until(victim, "is ready", 60, Version::ready);
        life.rest(3);
        life.create(
                life.pod(
                        preemptor,
                        RUN,
                        there.andThen(spec -> spec.setPriorityClassName(life.name()))));
        life.until(victim, "is gone", 60, Version::removed);
        life.until(preemptor, "is ready", 60, Version::ready);
        life.rest(3);
    }

    private static void gated(PodSpec spec) {
        spec.setSchedulingGates(List.of(new PodSchedulingGate("example.com/gate")));
    }

    private static void nowhere(PodSpec spec, String life) {
        spec.setNodeSelector(Map.of(LifeContext.PLACE + life, "here"));
    }

    private static void on(String node, PodSpec spec) {
        spec.setNodeSelector(Map.of("kubernetes.io/hostname", node));
    }

    /** A node may be gone for five seconds before its pods are deleted, instead of five minutes. */
    private static void shortTolerations(String node, PodSpec spec) {
        on(node, spec);
        spec.setTolerations(
                List.of(
                        tolerates("node.kubernetes.io/unreachable"),
                        tolerates("node.kubernetes.io/not-ready")));
    }

    private static Toleration tolerates(String taint) {
        return new TolerationBuilder()
                .withKey(taint)
                .withOperator("Exists")
                .withEffect("NoExecute")
                .withTolerationSeconds(5L)
                .build();
    }

    private static void asksForCpu(PodSpec spec) {
        spec.getContainers()
                .getFirst()
                .getResources()
                .setRequests(Map.of("cpu", new Quantity("10m")));
    }

    /** A folder that outlives the container. */
    private static void remembers(PodSpec spec) {
        spec.setVolumes(
                List.of(
                        new VolumeBuilder()
                                .withName("kept")
                                .withNewEmptyDir()
                                .endEmptyDir()
                                .build()));
        spec.getContainers()
                .getFirst()
                .setVolumeMounts(
                        List.of(
                                new VolumeMountBuilder()
                                        .withName("kept")
                                        .withMountPath("/kept")
                                        .build()));
    }

    private static String failsUntil(int times, String then) {
        return "echo x >>/kept/starts; sleep 1; [ $(wc -l </kept/starts) -gt "
                + times
                + " ] || exit 1; "
                + then;
    }
}
