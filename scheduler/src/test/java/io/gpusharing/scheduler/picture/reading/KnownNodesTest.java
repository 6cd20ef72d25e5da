package io.gpusharing.scheduler.picture.reading;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KnownNodesTest {

    private final KnownNodes nodes =
            new KnownNodes(new RequestGrammars(List.of(new VcudaGrammar())));

    private static Node node(String gpus) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName("n1")
                .endMetadata()
                .withNewStatus()
                .addToCapacity(VcudaGrammar.CORE, new Quantity(gpus))
                .endStatus()
                .build();
    }

    @Test
    void aNodeWhoseDevicePluginRestartsHasTheGpusThatItHad() {
        nodes.put(node("200"));

        nodes.put(node("0"));

        assertThat(nodes.of("n1").capacity().get(VcudaGrammar.CORE))
                .isEqualTo(io.gpusharing.request.Quantity.of(200));
    }

    @Test
    void ofANodeThatIsGoneAndOfNoneNothingIsKnown() {
        nodes.put(node("200"));

        nodes.retain(Set.of("n2"));

        assertThat(nodes.of("n1")).isEqualTo(NodeFacts.UNKNOWN);
        assertThat(nodes.of(null)).isEqualTo(NodeFacts.UNKNOWN);
    }
}
