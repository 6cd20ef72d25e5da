package io.gpusharing.scheduler.picture.reading;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.Reach;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SchedulerReachTest {

    private static final SchedulerReach OWN =
            new SchedulerReach(true, new SchedulerName("gpusharing-scheduler"));

    /** The cluster's own scheduler asks the extender. */
    private static final SchedulerReach EXTENDER = new SchedulerReach(true, new SchedulerName(""));

    private static final SchedulerReach NONE =
            new SchedulerReach(false, new SchedulerName("gpusharing-scheduler"));

    private static final ContainerAsk HALF =
            new ContainerAsk("c", Kind.App, new GpuAsk(1, 50, 100, false), Set.of());

    private static Reach of(SchedulerReach reach, String scheduler, ContainerAsk... asks) {
        return reach.of(
                new PodBuilder().withNewSpec().withSchedulerName(scheduler).endSpec().build(),
                new PodAsk(Amounts.NONE, List.of(), List.of(asks)));
    }

    @ParameterizedTest
    @CsvSource({
        "gpusharing-scheduler, Shared, NotShared, Everywhere",
        "default-scheduler, BySums, Shared, Everywhere",
        ", BySums, Shared, Everywhere",
        "volcano, NotShared, NotShared, Everywhere"
    })
    void whoAsksUsPlacesOnOurNodesAloneAndWhoDoesNotKnowThemOnNoneOfThem(
            String scheduler, Reach own, Reach extender, Reach none) {
        assertThat(of(OWN, scheduler, HALF)).isEqualTo(own);
        assertThat(of(EXTENDER, scheduler, HALF)).isEqualTo(extender);
        assertThat(of(NONE, scheduler, HALF)).isEqualTo(none);
    }

    @Test
    void aPodThatAsksForNothingOfOursMayGoAnywhere() {
        assertThat(of(OWN, "gpusharing-scheduler")).isEqualTo(Reach.Everywhere);
        assertThat(of(OWN, "volcano")).isEqualTo(Reach.Everywhere);
    }
}
