package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VcudaPlacementTest {

    private static Map<String, Quantity> of(String cores, String memory) {
        return Map.of(
                VcudaGrammar.CORE,
                Quantity.parse(cores),
                VcudaGrammar.MEMORY,
                Quantity.parse(memory));
    }

    /** The lower bits of such a number are a negative one, or zero. */
    @ParameterizedTest
    @ValueSource(strings = {"9223372036854775808", "13e18", "9e999"})
    void whoAsksForMoreThanThereIsNeverGivesAnyBack(String much) {
        GpuAsk ask =
                ProviderAsk.vcudaBlocks(
                        new ContainerRequest("cuda", Kind.App, of("50", much), Map.of()));

        assertThat(ask.memory()).isEqualTo(1_000_000_000);
        assertThat(new Gpu("0", 100, 60).fits(ask)).isFalse();
    }

    @Test
    void aNegativeAmountIsNone() {
        assertThat(
                        ProviderAsk.vcudaBlocks(
                                        new ContainerRequest(
                                                "cuda", Kind.App, of("-9e999", "-1"), Map.of()))
                                .count())
                .isZero();
    }

    @Test
    void anAdministratorsMillionsOfGpusAreNotMadeUp() {
        assertThat(VcudaPlacement.layout(Amounts.of(of("9e999", "9e999")))).isNull();
        assertThat(VcudaPlacement.layout(Amounts.of(of("200", "60"))))
                .extracting(GpuLayout::gpus, as(LIST))
                .containsExactly(new Gpu("0", 100, 30), new Gpu("1", 100, 30));
    }
}
