package io.gpusharing.sidecar.attribution;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuRequestTest {

    private static final BigDecimal MOST = BigDecimal.valueOf(999_999_999);
    private static final BigDecimal MOST_PLAIN = BigDecimal.valueOf(Long.MAX_VALUE);

    /**
     * What Kubernetes' own library makes of texts: each with its unscaled value and its power of
     * ten.
     */
    private static List<String[]> quantities() throws IOException {
        try (var table =
                GpuRequestTest.class.getResourceAsStream("/io/gpusharing/request/quantities.tsv")) {
            return new String(requireNonNull(table).readAllBytes(), UTF_8)
                    .lines()
                    .map(line -> line.split("\t"))
                    .filter(columns -> columns.length == 4)
                    .toList();
        }
    }

    @Test
    void anyQuantityThatAdmissionStampsIsReadOrUnknown() throws IOException {
        var differences = new ArrayList<String>();
        for (String[] columns : quantities()) {
            var value = new BigDecimal(new BigInteger(columns[1]), -Integer.parseInt(columns[2]));
            if (value.signum() <= 0) {
                continue;
            }
            boolean small = value.compareTo(MOST_PLAIN) <= 0 && value.scale() < 100;
            boolean whole = small && value.stripTrailingZeros().scale() <= 0;
            String text = (String) Json.parse(columns[0]);
            String stamped = whole ? value.toBigInteger().toString() : text;
            int gpus = whole && value.compareTo(MOST) <= 0 ? value.intValueExact() : 0;
            int read = GpuRequest.parse("main/nvidia.com/gpu=" + stamped).wholeGpus();
            if (read != gpus) {
                differences.add(stamped + ": " + read + " instead of " + gpus);
            }
        }

        assertThat(differences).isEmpty();
        assertThat(quantities()).hasSizeGreaterThan(2_000);
    }
}
