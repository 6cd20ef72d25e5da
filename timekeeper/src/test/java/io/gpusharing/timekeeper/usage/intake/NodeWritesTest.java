package io.gpusharing.timekeeper.usage.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class NodeWritesTest {

    private final Queue<Runnable> background = new ArrayDeque<>();
    private final List<String> written = new ArrayList<>();
    private final NodeWrites writes = new NodeWrites("what is tested", background::add);

    private void work() {
        while (!background.isEmpty()) {
            background.remove().run();
        }
    }

    @Test
    void whileNobodyWritesTheLastOfEachNodeIsKept() {
        writes.write("n1", () -> written.add("first of n1"));
        writes.write("n2", () -> written.add("n2"));
        writes.write("n1", () -> written.add("second of n1"));

        assertThat(background).as("one writes").hasSize(1);
        work();

        assertThat(written).containsExactlyInAnyOrder("second of n1", "n2");
    }

    @Test
    void whatComesWhileSomebodyWritesIsWrittenToo() {
        writes.write("n1", () -> writes.write("n1", () -> written.add("later")));
        work();

        assertThat(written).containsExactly("later");
    }

    @Test
    void oneThatFailsIsGivenUpAndTheOthersAreNot() {
        writes.write(
                "n1",
                () -> {
                    throw new IllegalStateException("the database is away");
                });
        writes.write("n2", () -> written.add("n2"));
        work();
        writes.write("n1", () -> written.add("next of n1"));
        work();

        assertThat(written).containsExactlyInAnyOrder("n2", "next of n1");
    }
}
