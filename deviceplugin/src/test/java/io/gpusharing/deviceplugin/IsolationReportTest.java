package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.cluster.NodeLabels.Isolation;
import io.gpusharing.deviceplugin.runtime.Exposure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class IsolationReportTest {

    private static final Exposure OPEN =
            new Exposure.Open("the default runtime does it", "in a file: setting = false");

    private final AtomicReference<Exposure> now = new AtomicReference<>(OPEN);
    private final List<Optional<Isolation>> labels = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private final IsolationReport report =
            new IsolationReport(
                    now::get,
                    labels::add,
                    (type, reason, message) -> events.add(type + " " + reason + " " + message));

    @Test
    void saysByLabelEventAndMetricThatGpusAreOpenAndWhatClosesThat() {
        report.look();

        assertThat(labels).containsExactly(Optional.of(Isolation.Open));
        assertThat(events)
                .containsExactly(
                        "Warning GpusOpen Containers can reach GPUs that they were not given: the default runtime does it."
                                + " To close that, in a file: setting = false; docs/provider.md says what else depends on it");
        assertThat(report.open()).contains(true);
    }

    @Test
    void saysWhatHasChangedAndNothingTwice() {
        report.look();
        report.look();
        now.set(new Exposure.Closed());
        report.look();
        report.look();

        assertThat(labels)
                .containsExactly(Optional.of(Isolation.Open), Optional.of(Isolation.Closed));
        assertThat(events).hasSize(1);
        assertThat(report.open()).contains(false);
    }

    @Test
    void takesTheLabelAwayWhereNobodyCanSay() {
        report.look();
        now.set(new Exposure.Unknown("/etc/containerd/config.toml is not there"));
        report.look();

        assertThat(labels).containsExactly(Optional.of(Isolation.Open), Optional.empty());
        assertThat(report.open()).isEmpty();
    }

    @Test
    void beforeItHasLookedNothingIsKnown() {
        assertThat(report.open()).isEmpty();
    }
}
