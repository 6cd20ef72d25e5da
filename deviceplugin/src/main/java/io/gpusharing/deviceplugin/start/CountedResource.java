package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cdi.CdiDevice;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.dialect.UnitIds;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.kubelet.DeviceResource;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * One resource of the node's dialect: so many units of every GPU that is not split by MIG.
 *
 * @param starts decides where containers start; the dialect's other resources do not ask it
 */
record CountedResource(String name, Dialect dialect, NodeGpus gpus, ContainerStarts starts)
        implements DeviceResource {

    @Override
    public List<Device> devices() {
        return gpus.all().stream()
                .filter(gpu -> !gpu.physical().mig())
                .flatMap(gpu ->
                        LongStream.range(0, dialect.units(name, gpu))
                                .mapToObj(unit -> device(gpu, unit)))
                .toList();
    }

    private static Device device(NodeGpu gpu, long unit) {
        return new Device(UnitIds.id(gpu.physical().index(), unit), gpu.isUsable());
    }

    @Override
    public List<String> preferred(List<String> available, List<String> needed, int size) {
        return UnitIds.preferred(available, needed, size);
    }

    @Override
    public List<String> allocate(List<String> ids) {
        return decides() ? List.of(CdiDevice.make().qualifiedName()) : List.of();
    }

    @Override
    public boolean decides() {
        return dialect.decides(name);
    }

    @Override
    public void prepare(Set<String> ids) throws StartRefused {
        starts.prepare(name, ids);
    }
}
