package io.gpusharing.scheduler.budgets;

import static io.gpusharing.scheduler.testing.BudgetObjects.grant;
import static io.gpusharing.scheduler.testing.BudgetObjects.readGrant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class KnownGrantsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final KnownGrants grants = new KnownGrants();

    private static ObjectNode withSpec(String spec) {
        ObjectNode grant = grant("odd", "team-a", TEN);
        grant.set("spec", JsonMapper.shared().readTree(spec));
        return grant;
    }

    @Test
    void theNewestGrantOfEachBudgetIsKnown() {
        grants.onUpdate(readGrant(grant("new", "team-a", TEN)));
        grants.onUpdate(readGrant(grant("old", "team-a", TEN.minusSeconds(60))));
        grants.onUpdate(readGrant(grant("other", "team-b", TEN.minusSeconds(90))));

        assertThat(grants.byBudget())
                .containsOnly(entry("team-a", TEN), entry("team-b", TEN.minusSeconds(90)));
    }

    @Test
    void whatElseAGrantSaysNeedNotBeRead() {
        grants.onUpdate(
                readGrant(
                        withSpec(
                                """
                                {"budget": "team-a", "gpuMinutes": {"much": []}, "expiresAt": "one day"}
                                """)));

        assertThat(grants.byBudget()).containsExactly(entry("team-a", TEN));
    }

    @ParameterizedTest
    @ValueSource(strings = {"yesterday", ""})
    void aGrantOfWhichNobodyKnowsWhenItWasMadeIsToldAndNewerThanAnyStatusOfItsBudget(
            String created) {
        ObjectNode odd = grant("odd", "team-a", TEN);
        odd.withObject("metadata").put("creationTimestamp", created);
        grants.onUpdate(readGrant(grant("other", "team-b", TEN)));

        assertThatThrownBy(() -> grants.onUpdate(readGrant(odd)))
                .isInstanceOf(RuntimeException.class);

        assertThat(grants.byBudget())
                .containsOnly(entry("team-a", Instant.MAX), entry("team-b", TEN));
        grants.onDelete(readGrant(odd));
        assertThat(grants.byBudget()).containsExactly(entry("team-b", TEN));
    }

    /** It may be meant for any budget, and one object must not stop everybody. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "[]",
                "\"team-a\"",
                "{}",
                "{\"budget\": null}",
                "{\"budget\": \"\"}",
                "{\"budget\": 5}",
                "{\"budget\": [\"team-a\"]}",
                "{\"budget\": {\"name\": \"team-a\"}}"
            })
    void aGrantThatNamesNoBudgetIsToldAndPutsNoneInDoubt(String spec) {
        assertThatThrownBy(() -> grants.onUpdate(readGrant(withSpec(spec))))
                .hasMessage("spec.budget is not the name of a budget");

        assertThat(grants.byBudget()).isEmpty();
    }
}
