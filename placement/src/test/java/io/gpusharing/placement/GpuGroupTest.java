package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.Names;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.GpuGroup;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GpuGroupTest {

    private static final List<ContainerAsk> PART = List.of(ask(new GpuAsk(1, 50, 0, false)));

    private static ContainerAsk ask(GpuAsk ask) {
        return new ContainerAsk("c", Kind.App, ask, Set.of());
    }

    @Test
    void whoeverWantsMoreThanAPartOfOneGpuIsInNoGroup() {
        Map<String, String> train = Map.of(Names.SAME_GPU_ANNOTATION, "train");

        assertThat(GpuGroup.of("a", train, List.of(ask(new GpuAsk(1, 100, 0, true))))).isEmpty();
        assertThat(GpuGroup.of("a", train, List.of(PART.getFirst(), PART.getFirst()))).isEmpty();
        assertThat(GpuGroup.of("a", train, List.of())).isEmpty();
    }

    @Test
    void itIsNamedByAnAnnotationWithinItsNamespace() {
        assertThat(GpuGroup.of("team-a", Map.of(Names.SAME_GPU_ANNOTATION, "train"), PART))
                .contains(new GpuGroup("team-a", "train"));
        assertThat(GpuGroup.of("team-a", Map.of(), PART)).isEmpty();
        assertThat(GpuGroup.of("team-a", null, PART)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Train", "-a", "a-", "a.b", "a/b", "a\n"})
    void whatIsNoNameIsNoGroup(String name) {
        assertThat(GpuGroup.of("team-a", Map.of(Names.SAME_GPU_ANNOTATION, name), PART)).isEmpty();
    }

    @Test
    void aNameHas63CharactersAtMost() {
        assertThat(GpuGroup.isName("a".repeat(63))).isTrue();
        assertThat(GpuGroup.isName("a".repeat(64))).isFalse();
        assertThat(GpuGroup.isName("a")).isTrue();
        assertThat(GpuGroup.isName("7-a")).isTrue();
    }
}
