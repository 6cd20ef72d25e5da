package io.gpusharing.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlacementAnnotationTest {

    @Test
    void whatIsWrittenIsRead() {
        String text = "7b0c;cuda=GPU-a,GPU-b;preload=GPU-a";

        assertThat(PlacementAnnotation.parse(text))
                .hasValueSatisfying(placement -> {
                    assertThat(placement.podUid()).isEqualTo("7b0c");
                    assertThat(placement.gpus())
                            .containsEntry("cuda", Set.of("GPU-a", "GPU-b"))
                            .containsEntry("preload", Set.of("GPU-a"));
                    assertThat(placement.text()).isEqualTo(text);
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "7b0c",
                "7b0c;",
                ";cuda=GPU-a",
                "7b0c;cuda",
                "7b0c;=GPU-a",
                "7b0c;cuda=",
                "7b0c;cuda=GPU-a,",
                "7b0c;cuda=GPU-a,GPU-a",
                "7b0c;cuda=GPU-a;cuda=GPU-b"
            })
    void whatNoSchedulerOfOursWritesIsNoPlacement(String text) {
        assertThat(PlacementAnnotation.parse(text)).isEmpty();
    }
}
