package io.gpusharing.scheduler.gpus;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sharing.Strategy;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class BestNodesTest {

    private static final List<String> NODES = List.of("half", "full", "quarter", "half too");

    private static final Map<String, Long> LEFT =
            Map.of("half", 50L, "quarter", 25L, "half too", 50L);

    private static List<String> best(Strategy strategy, int most) {
        return BestNodes.of(
                NODES,
                node ->
                        LEFT.containsKey(node)
                                ? OptionalLong.of(LEFT.get(node))
                                : OptionalLong.empty(),
                strategy,
                most);
    }

    @Test
    void theStrategySaysWhichNodeIsBest() {
        assertThat(best(Strategy.BestFit, 1)).containsExactly("quarter");
        assertThat(best(Strategy.Spread, 1)).containsExactly("half");
    }

    @Test
    void ofEqualNodesTheOneThatWasNamedFirstComesFirst() {
        assertThat(best(Strategy.Spread, 2)).containsExactly("half", "half too");
        assertThat(best(Strategy.BestFit, 2)).containsExactly("quarter", "half");
    }

    @Test
    void aNodeWithoutRoomIsNotNamed() {
        assertThat(best(Strategy.BestFit, 10)).containsExactly("quarter", "half", "half too");
    }
}
