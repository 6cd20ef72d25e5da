package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cdi.DriverEdits;
import io.gpusharing.deviceplugin.grant.PodGrant;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AccessReportTest {

    private final List<String> told = new ArrayList<>();
    private final PodGrant grant = new PodGrant("1", "team", "train", List.of());
    private boolean isLost;
    private DriverEdits driver = new DriverEdits.LegacyRuntime();
    private final AccessReport report =
            new AccessReport(
                    () -> isLost,
                    () -> driver,
                    () -> List.of(grant),
                    (type, reason, message) -> told.add("Node " + reason),
                    new PodNotices((pod, type, reason, message) ->
                            told.add(pod.name() + " " + reason + " " + message))
                            ::accessLost);

    @Test
    void theNodeAndThePodsAreToldOnceThatGpusWereTaken() throws IOException {
        report.look();
        assertThat(told).isEmpty();
        isLost = true;

        report.look();
        report.look();

        assertThat(told)
                .hasSize(2)
                .contains("Node GpuAccessLost")
                .anyMatch(line -> line.startsWith("train GpuAccessLost A reload of systemd"));
    }

    @Test
    void podsThatHaveTheirGpusByCdiAreNotSaidToHaveLostThem() throws IOException {
        driver = new DriverEdits.Specification(Path.of("/etc/cdi/nvidia.yaml"), new JsonObject());
        isLost = true;

        report.look();

        assertThat(told).containsExactly("Node GpuAccessLost");
    }
}
