package io.gpusharing.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the image is built from; whether it builds is seen where there is a builder. */
class ContainerfileTest {

    private final List<String> lines = instructions();

    @Test
    @DisplayName("case 51: no CUDA_VERSION, which would hand out every GPU of a node")
    void case51_theImageSetsNoCudaVersion() {
        assertThat(lines).noneMatch(line -> line.contains("CUDA_VERSION"));
        assertThat(lines)
                .anyMatch(line -> line.contains("NVIDIA_VISIBLE_DEVICES=void"))
                .noneMatch(line -> line.contains("NVIDIA_VISIBLE_DEVICES=all"));
    }

    @Test
    @DisplayName("defect 50: no whole distribution of a language, and no root")
    void defect50_theImageHoldsOnlyWhatTheMeterNeedsAndRunsAsNobody() {
        assertThat(lines)
                .filteredOn(line -> line.startsWith("USER"))
                .singleElement()
                .asString()
                .matches("USER [1-9]\\d*:[1-9]\\d*");
        assertThat(lines)
                .filteredOn(line -> line.startsWith("FROM"))
                .containsExactly(
                        "FROM ${JDK_IMAGE} AS build",
                        "FROM ${BASE_IMAGE} AS untrained",
                        "FROM untrained AS trained",
                        "FROM ${CACHE}");
    }

    private static List<String> instructions() {
        try {
            return Files.readAllLines(Path.of("Containerfile")).stream()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
