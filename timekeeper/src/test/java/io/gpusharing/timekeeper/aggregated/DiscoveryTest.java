package io.gpusharing.timekeeper.aggregated;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DiscoveryTest {

    private static final JsonMapper JSON = new JsonMapper();

    /** A resource as both documents describe it. */
    private record Described(
            String name, String kind, boolean namespaced, JsonNode verbs, String singularName) {}

    @Test
    void bothListsOfResourcesSayTheSame() throws IOException {
        List<Described> listed = new ArrayList<>();
        for (JsonNode it : file("resources").at("/resources")) {
            listed.add(
                    new Described(
                            it.at("/name").asString(),
                            it.at("/kind").asString(),
                            it.at("/namespaced").asBoolean(),
                            it.at("/verbs"),
                            it.at("/singularName").asString()));
        }
        List<Described> atOnce = new ArrayList<>();
        for (JsonNode it : file("aggregated").at("/items/0/versions/0/resources")) {
            String name = it.at("/resource").asString();
            boolean namespaced = it.at("/scope").asString().equals("Namespaced");
            atOnce.add(described(it, name, namespaced, it.at("/singularResource").asString()));
            for (JsonNode more : it.at("/subresources")) {
                String whole = name + "/" + more.at("/subresource").asString();
                atOnce.add(described(more, whole, namespaced, ""));
            }
        }

        assertThat(listed).isNotEmpty().isEqualTo(atOnce);
    }

    @Test
    void theListOfGroupsHasTheGroup() throws IOException {
        assertThat(file("groups").at("/groups/0")).isEqualTo(file("group"));
    }

    private static Described described(
            JsonNode it, String name, boolean namespaced, String singularName) {
        String kind = it.at("/responseKind/kind").asString();
        return new Described(name, kind, namespaced, it.at("/verbs"), singularName);
    }

    private static JsonNode file(String name) throws IOException {
        return JSON.readTree(
                new ClassPathResource("usage-discovery/" + name + ".json").getContentAsByteArray());
    }
}
