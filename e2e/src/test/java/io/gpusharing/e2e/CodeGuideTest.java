package io.gpusharing.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class CodeGuideTest {

    /** A class, perhaps with a method, and where it is. */
    private static final Pattern PLACE =
            Pattern.compile("\\[`[\\w/]+/[A-Z]\\w+(?:\\.(\\w+))?`]\\((\\S+\\.java)\\)");

    @Test
    void everyPlaceThatTheGuideNamesIsThere() throws IOException {
        List<MatchResult> places =
                PLACE.matcher(Files.readString(Path.of("../docs/code.md"))).results().toList();

        assertThat(places).hasSizeGreaterThan(20);
        for (MatchResult place : places) {
            Path source = Path.of("../docs").resolve(place.group(2));
            assertThat(source).exists();
            if (place.group(1) != null) {
                assertThat(source).as(place.group()).content().contains(place.group(1) + "(");
            }
        }
    }
}
