import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.GrantFile;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.mps.Answer;
import io.gpusharing.deviceplugin.mps.CooperativeMps;
import io.gpusharing.deviceplugin.mps.GpuFolder;
import io.gpusharing.deviceplugin.mps.MpsControl;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.GpuHold;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The device plugin's side of MPS, without kubelet and API server: what it says on a line of its standard input is done by the plugin's
 * own classes, and answered by a line of JSON.
 *
 *   start POD            what a container of a pod that starts gets, or why it does not start yet
 *   delete POD PID       the pod has this process and is deleted without any grace: its clients are ended
 *   gone POD             the pod has ended
 *   look                 what the plugin does every second
 *   servers | clients    by the control program
 */
public class MpsTenant implements NodePods {

    private final Map<String, NodePod> pods = new HashMap<>();
    private final Map<String, Set<Long>> processes = new HashMap<>();
    private final Grants grants;
    private final CooperativeMps mps;
    private final MpsControl control;
    private final NodeGpu gpu;

    public static void main(String[] args) throws Exception {
        var tenant = new MpsTenant(Path.of(args[0]), args[1]);
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            long before = System.nanoTime();
            String answer = tenant.answer(line.split(" "));
            System.out.printf("{\"milliseconds\": %.1f, %s}%n", (System.nanoTime() - before) / 1e6, answer);
        }
    }

    private MpsTenant(Path root, String uuid) throws Exception {
        gpu = new NodeGpu(new PhysicalGpu(0, uuid, 0, "", 40_000, "", false), null);
        grants = new Grants(new GrantFile(Files.createTempDirectory("grants").resolve("grants.json")), grant -> {}, () -> {});
        MpsProgram program = MpsProgram.find("");
        mps =
                new CooperativeMps(
                        root,
                        new CooperativeMps.Rules(Sharing.Across.Cluster, 48),
                        new CooperativeMps.Node(this, () -> List.of(gpu), grants, uid -> processes.getOrDefault(uid, Set.of())),
                        program,
                        (pod, message) -> {},
                        Runnable::run,
                        InstantSource.system());
        control = new MpsControl(program, GpuFolder.of(root, uuid), Duration.ofSeconds(5), failure -> {});
    }

    private String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "start" -> {
                return start(put(words[1], null));
            }
            case "delete" -> {
                processes.put(words[1], Set.of(Long.parseLong(words[2])));
                put(words[1], new NodePod.Deletion(Instant.now(), 0));
                mps.look();
                return "\"drained\": \"" + mps.drained() + "\"";
            }
            case "gone" -> {
                pods.remove(words[1]);
                grants.release(grant -> grant.uid().equals(words[1]));
                mps.look();
                return "\"gone\": true";
            }
            case "look" -> {
                mps.look();
                return "\"ready\": \"%s\", \"fault\": \"%s\"".formatted(mps.ready(), mps.all().getFirst().fault());
            }
            case "servers" -> {
                return said(control.servers());
            }
            default -> {
                return said(control.clients());
            }
        }
    }

    private String start(NodePod pod) throws Exception {
        var asks = List.of(new ContainerAsk("cuda", Kind.App, new GpuAsk(1, 25, 8_192, false), Set.of()));
        grants.grant(pod.uid(), "n", pod.name(), ContainerAsk.shared(asks, mps.sharing(pod, asks)), mps.all());
        if (grants.of(pod.uid()).isEmpty()) {
            return "\"obstacle\": \"unhealthy: %s\"".formatted(mps.all().getFirst().fault());
        }
        var container = grants.of(pod.uid()).orElseThrow().containers().getFirst();
        for (GpuHold hold : container.gpus()) {
            var obstacle = mps.obstacle(pod, "cuda", hold);
            if (obstacle.isPresent()) {
                return "\"obstacle\": \"%s\"".formatted(obstacle.get().reason().replace("\"", "'").replace("\n", " "));
            }
        }
        var edits = new com.google.gson.JsonObject();
        mps.admit(pod, container, edits);
        return "\"edits\": " + edits;
    }

    private NodePod put(String uid, NodePod.Deletion deletion) {
        var pod =
                new NodePod(
                        uid, "n", uid, false, false, deletion, new PodRequest(List.of()), Map.of(), Map.of("cuda", "id"), NodePod.Ipc.USUAL);
        pods.put(uid, pod);
        return pod;
    }

    private static String said(Answer<?> answer) {
        return "\"said\": \"%s\"".formatted(answer.toString().replace("\"", "'").replace("\n", " "));
    }

    @Override
    public Optional<NodePod> byUid(String uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    @Override
    public boolean isListed() {
        return true;
    }

    @Override
    public Optional<NodePod> await(String uid, Duration most) {
        return byUid(uid);
    }
}
