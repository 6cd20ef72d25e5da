package io.gpusharing.deviceplugin.kubelet;

import io.gpusharing.deviceplugin.kubelet.podresources.ListPodResourcesRequest;
import io.gpusharing.deviceplugin.kubelet.podresources.ListPodResourcesResponse;
import io.gpusharing.deviceplugin.kubelet.podresources.PodResourcesListerGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks the kubelet who holds which devices. It answers a hundred such questions a second, of all
 * programs on the node together; so one answer serves everybody who asked before the question went
 * out.
 */
public final class PodResources implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration WHEN_REFUSED = Duration.ofMillis(100);

    /** What a container holds of one resource. Ordinary init containers are never named. */
    public record Holder(
            String namespace, String pod, String container, String resource, Set<String> ids) {}

    private final ManagedChannel kubelet;
    private boolean asking;
    private @Nullable CompletableFuture<List<Holder>> next;

    /**
     * @param socket {@code /var/lib/kubelet/pod-resources/kubelet.sock}
     */
    public PodResources(UnixSockets sockets, Path socket) {
        this.kubelet = sockets.connect(socket);
    }

    /**
     * All holders, by an answer to a question that was asked after this call.
     *
     * @throws IOException if there is none within five seconds
     */
    public List<Holder> list() throws IOException {
        try {
            return ask().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("The kubelet does not say who holds its devices", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while asking the kubelet", e);
        }
    }

    private synchronized CompletableFuture<List<Holder>> ask() {
        CompletableFuture<List<Holder>> asked = next;
        if (asked == null) {
            asked = new CompletableFuture<>();
            next = asked;
            if (!asking) {
                askNext();
            }
        }
        return asked;
    }

    private synchronized void askNext() {
        CompletableFuture<List<Holder>> asked = next;
        next = null;
        asking = asked != null;
        if (asked != null) {
            Thread.ofVirtual().name("pod-resources").start(() -> answer(asked));
        }
    }

    private void answer(CompletableFuture<List<Holder>> asked) {
        try {
            asked.complete(holders(patiently()));
        } catch (StatusRuntimeException | InterruptedException e) {
            asked.completeExceptionally(e);
        } finally {
            askNext();
        }
    }

    private ListPodResourcesResponse patiently() throws InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return PodResourcesListerGrpc.newBlockingStub(kubelet)
                        .withDeadlineAfter(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                        .list(ListPodResourcesRequest.getDefaultInstance());
            } catch (StatusRuntimeException e) {
                if (e.getStatus().getCode() != Status.Code.RESOURCE_EXHAUSTED
                        || System.nanoTime() > until) {
                    throw e;
                }
                Thread.sleep(WHEN_REFUSED);
            }
        }
    }

    private static List<Holder> holders(ListPodResourcesResponse answer) {
        var holders = new ArrayList<Holder>();
        for (var pod : answer.getPodResourcesList()) {
            for (var container : pod.getContainersList()) {
                var ids = new HashMap<String, Set<String>>();
                // One entry for each id, in any order.
                for (var devices : container.getDevicesList()) {
                    ids.computeIfAbsent(devices.getResourceName(), name -> new HashSet<>())
                            .addAll(devices.getDeviceIdsList());
                }
                ids.forEach((resource, all) ->
                        holders.add(
                                new Holder(
                                        pod.getNamespace(),
                                        pod.getName(),
                                        container.getName(),
                                        resource,
                                        all)));
            }
        }
        return holders;
    }

    @Override
    public void close() {
        kubelet.shutdownNow();
    }
}
