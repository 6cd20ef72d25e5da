package io.gpusharing.request.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The chart refuses resources that no chosen grammar reads, by a table of its own: it cannot ask
 * us.
 */
class ChartGrammarsTest {

    private static final Path TABLE = Path.of("../helm/gpusharing/templates/_helpers.tpl");
    private static final Pattern DEFINITION =
            Pattern.compile(
                    "define \"gpusharing.grammarOf\" -}}(.*?)\\{\\{- end }}", Pattern.DOTALL);
    private static final Pattern ROW = Pattern.compile("if (.*) }}(\\w+)");
    private static final Pattern RESOURCE = Pattern.compile("\"([^\"]+)\"");

    @Test
    void theChartNamesTheGrammarThatReadsAResource() throws IOException {
        var owners = new TreeMap<String, String>();
        String rows =
                DEFINITION
                        .matcher(Files.readString(TABLE))
                        .results()
                        .map(it -> it.group(1))
                        .findFirst()
                        .orElseThrow();
        for (MatchResult row : ROW.matcher(rows).results().toList()) {
            RESOURCE.matcher(row.group(1))
                    .results()
                    .map(it -> it.group(1))
                    // One prefix stands for all profiles of MIG.
                    .map(name -> name.endsWith("-") ? name + "1g.10gb" : name)
                    .forEach(name -> owners.put(name, row.group(2)));
        }

        assertThat(owners.values()).containsAll(RequestGrammars.names());
        owners.forEach((resource, owner) -> {
            for (String name : RequestGrammars.names()) {
                // nvidia.com/gpu is read by two grammars; the pod and its node decide which.
                boolean second = name.equals("hami") && resource.equals("nvidia.com/gpu");
                assertThat(RequestGrammars.of(List.of(name), List.of()).reads(resource))
                        .as("%s reads %s", name, resource)
                        .isEqualTo(second || name.equals(owner));
            }
        });
    }
}
