package io.gpusharing.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest.Kind;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PodRequestTest {

    @Test
    void theStampWritesAmountsPlainlyInThePodsOrderAndLeavesOutWhatAsksForNothing() {
        PodRequest pod =
                new PodRequest(
                        List.of(
                                container("web", Map.of("cpu", "2")),
                                container("b", Map.of("x.com/mem", "1e3", "x.com/core", "50")),
                                container("a", Map.of("x.com/core", "1k", "x.com/mem", "0"))));

        assertThat(pod.stamp(name -> name.startsWith("x.com/")))
                .isEqualTo("b/x.com/core=50,b/x.com/mem=1000,a/x.com/core=1000");
    }

    @Test
    void aStampIsParsedBackToItsAmountsAndAnythingElseIsIgnored() {
        String stamp = "b/x.com/core=50,b/x.com/mem=1000,a/x.com/core=1000";

        assertThat(PodRequest.ofStamp(stamp).orElseThrow().stamp(name -> true)).isEqualTo(stamp);
        assertThat(PodRequest.ofStamp("")).isEmpty();
        assertThat(PodRequest.ofStamp("b/x.com=much")).isEmpty();
        assertThat(PodRequest.ofStamp("a=1/b")).isEmpty();
    }

    private static ContainerRequest container(String name, Map<String, String> limits) {
        var amounts = new java.util.HashMap<String, Quantity>();
        limits.forEach((resource, text) -> amounts.put(resource, Quantity.parse(text)));
        return new ContainerRequest(name, Kind.App, amounts, Map.of());
    }
}
