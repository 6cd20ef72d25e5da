package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.dialect.UnitIds;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * On which GPU each unit of a resource is: where its holder has its GPU, and a unit that nobody
 * holds where something is free. By its name a unit is of a GPU, but its holder may have been given
 * another one. A kubelet that aligns processors with GPUs goes by the units, and would refuse pods
 * for want of room where there is some.
 *
 * @param numaNode of a PCI device, null where it is not known
 */
record UnitPlaces(
        Dialect dialect,
        UnitHolders.Table table,
        Grants grants,
        Function<String, @Nullable Integer> numaNode) {

    /**
     * Where they are now.
     *
     * @param units by id; empty where it does not matter, because all GPUs are on one NUMA node
     * @param nodes NUMA nodes by the GPU's UUID, where they are known
     */
    record Places(Map<String, NodeGpu> units, Map<String, Integer> nodes) {

        /** The NUMA node of a unit, null where it is not known. */
        @Nullable Integer node(String id, NodeGpu byName) {
            return nodes.get(units.getOrDefault(id, byName).uuid());
        }

        /** The units to give away, see {@link UnitIds#preferred}. */
        List<String> preferred(List<String> available, List<String> needed, int size) {
            return units.isEmpty()
                    ? UnitIds.preferred(available, needed, size)
                    : UnitIds.preferred(available, needed, size, this::gpu, this::node);
        }

        private String gpu(String id) {
            NodeGpu gpu = units.get(id);
            return gpu == null ? "" : UnitIds.gpu(gpu.physical().index());
        }

        private int node(String id) {
            NodeGpu gpu = units.get(id);
            return gpu == null ? -1 : nodes.getOrDefault(gpu.uuid(), -1);
        }
    }

    /**
     * Where the units of a resource are.
     *
     * @param gpus all of the node
     */
    Places of(String resource, List<NodeGpu> gpus) {
        Map<String, Integer> nodes = nodes(gpus);
        return new Places(isSpread(nodes) ? units(resource, gpus) : Map.of(), nodes);
    }

    private Map<String, Integer> nodes(List<NodeGpu> gpus) {
        var nodes = new HashMap<String, Integer>();
        for (NodeGpu gpu : gpus) {
            Integer node = numaNode.apply(gpu.physical().pciBusId());
            if (node != null) {
                nodes.put(gpu.uuid(), node);
            }
        }
        return nodes;
    }

    private static boolean isSpread(Map<String, Integer> nodes) {
        return new HashSet<>(nodes.values()).size() > 1;
    }

    /** Whether the GPUs are on several NUMA nodes, so that each grant may move units. */
    boolean areOnSeveralNodes(List<NodeGpu> gpus) {
        return isSpread(nodes(gpus));
    }

    /** GPUs on the NUMA nodes of the units that a kubelet gave these containers. */
    List<NodeGpu> near(String resource, List<Entry> entries, List<NodeGpu> gpus) {
        Places places = of(resource, gpus);
        Set<Integer> chosen =
                entries.stream()
                        .flatMap(entry -> entry.ids().stream())
                        .map(places::node)
                        .collect(Collectors.toSet());
        return places.units().isEmpty()
                ? gpus
                : gpus.stream()
                        .filter(gpu -> chosen.contains(places.nodes().getOrDefault(gpu.uuid(), -1)))
                        .toList();
    }

    private Map<String, NodeGpu> units(String resource, List<NodeGpu> gpus) {
        var free = new LinkedHashMap<NodeGpu, Long>();
        gpus.stream()
                .filter(gpu -> !gpu.physical().mig())
                .forEach(gpu -> free.put(gpu, dialect.units(resource, gpu)));
        var places = new HashMap<String, NodeGpu>();
        entries(resource).forEach(entry -> place(entry, free, places));
        for (NodeGpu gpu : List.copyOf(free.keySet())) {
            for (long unit = 0; unit < dialect.units(resource, gpu); unit++) {
                String id = UnitIds.id(gpu.physical().index(), unit);
                if (!places.containsKey(id)) {
                    NodeGpu at = left(free, gpu);
                    places.put(id, at);
                    free.merge(at, -1L, Long::sum);
                }
            }
        }
        return places;
    }

    private static NodeGpu left(Map<NodeGpu, Long> free, NodeGpu byName) {
        return free.getOrDefault(byName, 0L) > 0
                ? byName
                : free.entrySet().stream()
                        .filter(gpu -> gpu.getValue() > 0)
                        .map(Map.Entry::getKey)
                        .findFirst()
                        .orElse(byName);
    }

    private List<Entry> entries(String resource) {
        try {
            return table.read().entries().stream()
                    .filter(entry -> entry.resource().equals(resource))
                    .toList();
        } catch (IOException e) {
            // Nobody starts while it cannot be read, and whoever asks then says why.
            return List.of();
        }
    }

    /** All of the first GPUs, and what is left on the last. */
    private void place(Entry entry, Map<NodeGpu, Long> free, Map<String, NodeGpu> places) {
        Iterator<String> ids =
                entry.ids().stream().filter(id -> !places.containsKey(id)).sorted().iterator();
        Iterator<NodeGpu> held = held(entry, free.keySet()).iterator();
        while (held.hasNext()) {
            NodeGpu gpu = held.next();
            long most = held.hasNext() ? dialect.units(entry.resource(), gpu) : Long.MAX_VALUE;
            for (long unit = 0; unit < most && ids.hasNext(); unit++) {
                places.put(ids.next(), gpu);
                free.merge(gpu, -1L, Long::sum);
            }
        }
    }

    private List<NodeGpu> held(Entry entry, Set<NodeGpu> gpus) {
        return grants.of(entry.podUid()).stream()
                .flatMap(grant -> grant.containers().stream())
                .filter(container -> container.container().equals(entry.container()))
                .map(ContainerPlacement::gpus)
                .flatMap(List::stream)
                .map(GpuHold::gpu)
                .flatMap(uuid -> gpus.stream().filter(gpu -> gpu.uuid().equals(uuid)))
                .toList();
    }
}
