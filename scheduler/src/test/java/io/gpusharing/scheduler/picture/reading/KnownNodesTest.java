package io.gpusharing.scheduler.picture.reading;

import static io.gpusharing.kubernetes.PodSharing.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.ProviderAsk;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KnownNodesTest {

    private static final RequestGrammars GRAMMARS =
            new RequestGrammars(List.of(new VcudaGrammar()));

    private final KnownNodes nodes =
            new KnownNodes(GRAMMARS, new CapacityReader(GRAMMARS, new ProviderAsk(Map.of()), NONE));

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
        nodes.onUpdate(node("200"));

        nodes.onUpdate(node("0"));

        assertThat(nodes.of("n1").capacity().get(VcudaGrammar.CORE))
                .isEqualTo(io.gpusharing.request.Quantity.of(200));
    }

    @Test
    void aNodeThatCannotBeReadOffersNothing() {
        nodes.onUpdate(node("200"));
        Node odd = node("200");
        odd.getStatus().getAllocatable().put("cpu", new Quantity("--"));

        assertThatThrownBy(() -> nodes.onUpdate(odd)).isInstanceOf(RuntimeException.class);

        assertThat(nodes.all()).isEmpty();
    }

    @Test
    void ofANodeThatIsGoneNothingIsKnown() {
        nodes.onUpdate(node("200"));

        nodes.onDelete(node("200"));

        assertThat(nodes.of("n1")).isEqualTo(NodeFacts.UNKNOWN);
        assertThat(nodes.all()).isEmpty();
    }
}
