package io.gpusharing.deviceplugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedConfigMapTest {

    private static final String PATH =
            "/api/v1/namespaces/gpusharing-system/configmaps/gpusharing-shared";

    @TempDir private Path folder;

    private final Pauses pauses = new Pauses();
    private FakeApiServer cluster;
    private ApiServer api;
    private SharedConfigMap shared;

    @BeforeEach
    void start() throws IOException {
        cluster = new FakeApiServer(folder);
        api = cluster.client();
        shared = new SharedConfigMap(api, "gpusharing-system", pauses.backoff());
    }

    @AfterEach
    void end() {
        shared.close();
        api.close();
        cluster.close();
    }

    @Test
    void isAppliedByItsNameWhichIsAllThatRbacAllows() throws Exception {
        shared.write();

        assertThat(cluster.nextChange().path())
                .isEqualTo(PATH + "?force=true&fieldManager=gpusharing-device-plugin");
        assertThat(cluster.object(PATH).getAsJsonObject("data").get("about").getAsString())
                .contains("GPUs of this cluster are shared");
    }

    @Test
    void isWrittenAgainOnlyAfterSomebodyHasDeletedIt() throws Exception {
        shared.write();
        cluster.nextChange();

        shared.write();
        shared.write();
        cluster.removeObject(PATH);
        shared.look();

        cluster.nextChange();
        assertThat(cluster.requests)
                .filteredOn(request -> request.method().equals("PATCH"))
                .hasSize(2);
    }

    @Test
    void isTriedUntilTheApiServerIsBack() throws Exception {
        cluster.answerAll(503, FakeApiServer.status(503, "etcd is away"));
        shared.write();
        pauses.next();
        cluster.recover();
        pauses.endAll();

        cluster.nextChange();
        assertThat(cluster.object(PATH).get("kind").getAsString()).isEqualTo("ConfigMap");
    }
}
