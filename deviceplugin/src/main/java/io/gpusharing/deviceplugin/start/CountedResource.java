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
 * @param places says where the units are
 * @param starts decides where containers start; the dialect's other resources do not ask it
 */
record CountedResource(
        String name, Dialect dialect, NodeGpus gpus, UnitPlaces places, ContainerStarts starts)
        implements DeviceResource {

    @Override
    public List<Device> devices() {
        List<NodeGpu> all = gpus.all();
        UnitPlaces.Places now = places.of(name, all);
        return all.stream()
                .filter(gpu -> !gpu.physical().mig())
                .flatMap(gpu ->
                        LongStream.range(0, dialect.units(name, gpu))
                                .mapToObj(unit -> device(gpu, unit, now)))
                .toList();
    }

    private static Device device(NodeGpu gpu, long unit, UnitPlaces.Places places) {
        String id = UnitIds.id(gpu.physical().index(), unit);
        return new Device(id, gpu.isUsable(), places.node(id, gpu));
    }

    @Override
    public List<String> preferred(List<String> available, List<String> needed, int size) {
        return places.of(name, gpus.all()).preferred(available, needed, size);
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
