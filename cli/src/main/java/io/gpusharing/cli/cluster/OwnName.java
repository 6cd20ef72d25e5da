package io.gpusharing.cli.cluster;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The name of an object that is made once. Without one it is chosen here and not by the API server,
 * so that it is one object however often it is sent.
 */
public final class OwnName {

    /** What is longer the API server refuses: a name has 253 characters. */
    private static final int MOST_OF_BUDGET = 200;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description =
                    "Of the object that is made, so that a script that runs again changes nothing.")
    private @Nullable String name;

    /** Whether the user has chosen it. */
    public boolean isGiven() {
        return name != null;
    }

    /** As an object's metadata has it, made of the budget's name if none is given. */
    public ObjectMeta metadata(String budget) {
        String own =
                budget.substring(0, Math.min(budget.length(), MOST_OF_BUDGET))
                        + "-"
                        + UUID.randomUUID().toString().substring(0, 8);
        return new ObjectMetaBuilder().withName(name == null ? own : name).build();
    }
}
