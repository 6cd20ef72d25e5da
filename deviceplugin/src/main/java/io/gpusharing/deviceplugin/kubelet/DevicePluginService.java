package io.gpusharing.deviceplugin.kubelet;

import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.deviceplugin.kubelet.api.AllocateRequest;
import io.gpusharing.deviceplugin.kubelet.api.AllocateResponse;
import io.gpusharing.deviceplugin.kubelet.api.CDIDevice;
import io.gpusharing.deviceplugin.kubelet.api.ContainerAllocateResponse;
import io.gpusharing.deviceplugin.kubelet.api.ContainerPreferredAllocationResponse;
import io.gpusharing.deviceplugin.kubelet.api.Device;
import io.gpusharing.deviceplugin.kubelet.api.DevicePluginGrpc.DevicePluginImplBase;
import io.gpusharing.deviceplugin.kubelet.api.DevicePluginOptions;
import io.gpusharing.deviceplugin.kubelet.api.Empty;
import io.gpusharing.deviceplugin.kubelet.api.ListAndWatchResponse;
import io.gpusharing.deviceplugin.kubelet.api.NUMANode;
import io.gpusharing.deviceplugin.kubelet.api.PreStartContainerRequest;
import io.gpusharing.deviceplugin.kubelet.api.PreStartContainerResponse;
import io.gpusharing.deviceplugin.kubelet.api.PreferredAllocationRequest;
import io.gpusharing.deviceplugin.kubelet.api.PreferredAllocationResponse;
import io.gpusharing.deviceplugin.kubelet.api.TopologyInfo;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Kubernetes' device plugin API for one resource. */
final class DevicePluginService extends DevicePluginImplBase {

    private final DeviceResource resource;
    private final Runnable disconnected;
    private final Set<ServerCallStreamObserver<ListAndWatchResponse>> watching =
            ConcurrentHashMap.newKeySet();

    /**
     * @param disconnected told when a kubelet stops watching
     */
    DevicePluginService(DeviceResource resource, Runnable disconnected) {
        this.resource = resource;
        this.disconnected = disconnected;
    }

    DevicePluginOptions options() {
        return DevicePluginOptions.newBuilder()
                .setPreStartRequired(resource.decides())
                .setGetPreferredAllocationAvailable(true)
                .build();
    }

    /** Tells every kubelet that watches what the units are now. */
    void changed() {
        ListAndWatchResponse all = all();
        for (var kubelet : watching) {
            // One message at a time; gRPC's observers are not safe for two threads.
            synchronized (kubelet) {
                if (!kubelet.isCancelled()) {
                    kubelet.onNext(all);
                }
            }
        }
    }

    private ListAndWatchResponse all() {
        var all = ListAndWatchResponse.newBuilder();
        for (DeviceResource.Device device : resource.devices()) {
            all.addDevices(device(device));
        }
        return all.build();
    }

    private static Device.Builder device(DeviceResource.Device device) {
        Device.Builder unit =
                Device.newBuilder()
                        .setID(device.id())
                        .setHealth(device.healthy() ? "Healthy" : "Unhealthy");
        Integer node = device.numaNode();
        return node == null
                ? unit
                : unit.setTopology(
                        TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(node)));
    }

    @Override
    public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> answer) {
        answer(options(), answer);
    }

    @Override
    public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> answer) {
        var kubelet = (ServerCallStreamObserver<ListAndWatchResponse>) answer;
        kubelet.setOnCancelHandler(() -> {
            watching.remove(kubelet);
            disconnected.run();
        });
        watching.add(kubelet);
        synchronized (kubelet) {
            kubelet.onNext(all());
        }
    }

    @Override
    public void getPreferredAllocation(
            PreferredAllocationRequest request,
            StreamObserver<PreferredAllocationResponse> answer) {
        var all = PreferredAllocationResponse.newBuilder();
        for (var container : request.getContainerRequestsList()) {
            all.addContainerResponses(
                    ContainerPreferredAllocationResponse.newBuilder()
                            .addAllDeviceIDs(
                                    resource.preferred(
                                            container.getAvailableDeviceIDsList(),
                                            container.getMustIncludeDeviceIDsList(),
                                            container.getAllocationSize())));
        }
        answer(all.build(), answer);
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> answer) {
        var all = AllocateResponse.newBuilder();
        for (var container : request.getContainerRequestsList()) {
            var one = ContainerAllocateResponse.newBuilder();
            resource.allocate(container.getDevicesIdsList())
                    .forEach(name -> one.addCdiDevices(CDIDevice.newBuilder().setName(name)));
            all.addContainerResponses(one);
        }
        answer(all.build(), answer);
    }

    @Override
    public void preStartContainer(
            PreStartContainerRequest request, StreamObserver<PreStartContainerResponse> answer) {
        try {
            resource.prepare(Set.copyOf(request.getDevicesIdsList()));
            answer(PreStartContainerResponse.getDefaultInstance(), answer);
        } catch (StartRefused e) {
            answer.onError(
                    Status.FAILED_PRECONDITION
                            .withDescription(e.getMessage())
                            .asRuntimeException());
        }
    }

    private static <T> void answer(T value, StreamObserver<T> answer) {
        answer.onNext(value);
        answer.onCompleted();
    }
}
