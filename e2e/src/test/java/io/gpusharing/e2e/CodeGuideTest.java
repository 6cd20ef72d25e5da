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

    /** {@code timekeeper/ledger/posting/PodCharger.charge}: a class, and perhaps a method of it. */
    private static final Pattern PLACE =
            Pattern.compile("`(timekeeper|webhook)/([a-z/]*/[A-Z]\\w+)(?:\\.([a-z]\\w+))?`");

    @Test
    void everyPlaceThatTheGuideNamesIsThere() throws IOException {
        List<MatchResult> places =
                PLACE.matcher(Files.readString(Path.of("../docs/code.md"))).results().toList();

        assertThat(places).hasSizeGreaterThan(12);
        for (MatchResult place : places) {
            Path source =
                    Path.of(
                            "../%1$s/src/main/java/io/gpusharing/%1$s/%2$s.java"
                                    .formatted(place.group(1), place.group(2)));
            assertThat(source).as(place.group()).exists();
            if (place.group(3) != null) {
                assertThat(source).as(place.group()).content().contains(place.group(3) + "(");
            }
        }
    }
}
