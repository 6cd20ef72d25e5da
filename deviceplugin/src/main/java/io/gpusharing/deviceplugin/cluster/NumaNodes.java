package io.gpusharing.deviceplugin.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Which of the computer's NUMA nodes a PCI device belongs to.
 *
 * @param devices the kernel's folder of PCI devices
 */
public record NumaNodes(Path devices) {

    /** Those of this computer. */
    public static NumaNodes ofThisComputer() {
        return new NumaNodes(Path.of("/sys/bus/pci/devices"));
    }

    /**
     * The NUMA node.
     *
     * @param pciBusId as the folder spells it
     * @return null if the computer has none, or does not tell
     */
    public @Nullable Integer of(String pciBusId) {
        if (pciBusId.isEmpty()) {
            return null;
        }
        try {
            int node =
                    Integer.parseInt(
                            Files.readString(devices.resolve(pciBusId).resolve("numa_node"))
                                    .strip());
            return node < 0 ? null : node;
        } catch (IOException | NumberFormatException e) {
            return null;
        }
    }
}
