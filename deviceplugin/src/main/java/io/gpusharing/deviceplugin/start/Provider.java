package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cdi.CdiFolder;
import io.gpusharing.deviceplugin.cdi.DriverFolders;
import io.gpusharing.deviceplugin.cdi.Interceptor;
import io.gpusharing.deviceplugin.cdi.Mgctl;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.dialect.Metagpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.kubelet.DeviceResource;
import io.gpusharing.deviceplugin.mps.Mps;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Hands out the GPUs of this node: the resources that it offers, and what has to be tidied up. */
public final class Provider {

    private final List<DeviceResource> resources;
    private final NodePods pods;
    private final StartFiles files;
    private final EndedPods ended;
    private final RefusedPods refused;
    private final Grants grants;
    private final NodeGpus gpus;
    private final UnitPlaces places;
    private final AllocationCheck check;

    /**
     * What the kubelet says.
     *
     * @param table its table of devices on disk
     * @param api its API of pod resources
     */
    public record Kubelet(UnitHolders.Table table, UnitHolders.Api api) {}

    /**
     * What is read and written on the node's disk.
     *
     * @param cdi where our CDI files go
     * @param driver where NVIDIA's CDI specification lies, if there is one
     * @param interceptor the site's own library for those who take turns, if it has one
     * @param mgctl the script for containers that ask by the dialect of metagpu
     * @param processes all of the node's
     * @param numaNode of a PCI device, null where it is not known
     */
    public record Disk(
            CdiFolder cdi,
            DriverFolders driver,
            Optional<Interceptor> interceptor,
            Mgctl mgctl,
            PodProcesses processes,
            Function<String, @Nullable Integer> numaNode) {}

    /**
     * @param refused remembers the pods that were refused
     * @param mps whether and how they share GPUs by it
     */
    public Provider(
            Dialect dialect,
            Kubelet kubelet,
            Disk disk,
            NodePods pods,
            NodeGpus gpus,
            Grants grants,
            RefusedPods refused,
            Mps mps,
            Pacing pacing) {
        this.pods = pods;
        this.grants = grants;
        this.gpus = gpus;
        this.refused = refused;
        this.files =
                new StartFiles(
                        disk.cdi(),
                        disk.driver(),
                        disk.interceptor(),
                        dialect instanceof Metagpu ? Optional.of(disk.mgctl()) : Optional.empty(),
                        mps,
                        pacing.clock());
        this.ended = new EndedPods(pods, grants, disk.processes(), files);
        var holders = new UnitHolders(kubelet.table(), kubelet.api(), pacing);
        this.places = new UnitPlaces(dialect, kubelet.table(), grants, disk.numaNode());
        var starts =
                new ContainerStarts(
                        dialect, holders, pods, gpus, places, grants, ended, files, refused, mps,
                        pacing);
        this.check =
                new AllocationCheck(dialect, kubelet.table(), pods, grants, starts, pacing.clock());
        this.resources =
                dialect.resources().stream()
                        .<DeviceResource>map(
                                name -> new CountedResource(name, dialect, gpus, places, starts))
                        .toList();
    }

    /** What it offers to the kubelet. */
    public List<DeviceResource> resources() {
        return resources;
    }

    /** Whether the kubelet has to be told of each grant, since it says where units are. */
    public boolean doGrantsMoveUnits() {
        return places.areOnSeveralNodes(gpus.all());
    }

    /** Takes back what is not needed any more. Called every second, and when a pod has changed. */
    public void tidyUp() throws IOException {
        files.closeStarted(pods);
        refused.tidyUp(pods, grants);
        ended.release();
    }

    /**
     * Compares the kubelet's table with the grants. Called every second.
     *
     * @param serving whether we hand out the GPUs; another plugin's containers are not ours to
     *     judge
     */
    public void compare(boolean serving) throws IOException {
        if (serving) {
            check.look();
        } else {
            check.forget();
        }
    }

    /** Pods that run, and of which the kubelet and we do not say the same, for half a minute. */
    public Set<Disagreement> disagreements() {
        return check.lasting();
    }
}
