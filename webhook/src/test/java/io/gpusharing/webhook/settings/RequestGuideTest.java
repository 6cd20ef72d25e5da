package io.gpusharing.webhook.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.Rule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RequestGuideTest {

    @Test
    void theGuideListsEveryRefusalWithItsText() throws IOException {
        String guide = Files.readString(Path.of("..", "docs", "requests.md"));

        for (Rule rule : Rule.values()) {
            assertThat(guide).contains("| `%s` | %s |".formatted(rule.name(), rule.text()));
        }
    }
}
