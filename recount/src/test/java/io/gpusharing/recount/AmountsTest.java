package io.gpusharing.recount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class AmountsTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /**
     * What Kubernetes' own library makes of texts: each with its unscaled value, its power of ten
     * and the form in which the API server writes it.
     */
    private static List<String[]> stored() throws IOException {
        try (var table =
                AmountsTest.class.getResourceAsStream("/io/gpusharing/request/quantities.tsv")) {
            return new String(requireNonNull(table).readAllBytes(), UTF_8)
                    .lines()
                    .map(line -> line.split("\t"))
                    .filter(columns -> columns.length == 4)
                    .toList();
        }
    }

    @Test
    void readsWhateverAnApiServerWrites() throws IOException {
        var differences = new ArrayList<String>();
        int exactly = 0;
        for (String[] columns : stored()) {
            var exact = new BigDecimal(new BigInteger(columns[1]), -Integer.parseInt(columns[2]));
            String written = JSON.readValue(columns[3], String.class);
            BigDecimal read = Amounts.read(written);
            // The library writes 1 for a thousand E, and from then on takes it for 1, too.
            if (columns[0].equals(columns[3])) {
                exactly++;
                if (read.compareTo(capped(exact)) != 0) {
                    differences.add(written + " is " + exact);
                }
            }
        }

        assertThat(differences).isEmpty();
        assertThat(exactly).isGreaterThan(800);
    }

    private static BigDecimal capped(BigDecimal exact) {
        boolean above = exact.signum() != 0 && (long) exact.precision() - exact.scale() > 1_000;
        return above ? Amounts.MOST.multiply(BigDecimal.valueOf(exact.signum())) : exact;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", ".", "1x", "--1", "1 k", "1e", "1ki", "0x10", "null"})
    void takesNothingThatNoApiServerWrites(String text) {
        assertThatThrownBy(() -> Amounts.read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"" + text + "\" is no amount");
    }
}
