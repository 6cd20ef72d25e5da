package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.decision.Reaction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the webhook says of MPS to pods that ask for GPUs. The same manifests, without a GPU
 * request, are what {@code helm/test-on-cluster} gives to the admission policy.
 */
class MpsAdmissionTest {

    private static final String EXPECTED = "# with a part: ";
    private static final String WISH = "request.gpusharing.io/mps";

    private final Installation serving = sharing().mps(Reaction.Refuse);

    private static Installation sharing() {
        return new Installation().sharing("tencent.com/vcuda-core", "tencent.com/vcuda-memory");
    }

    private static ObjectNode withCores(Path file, int cores) {
        ObjectNode pod = Manifests.yaml(read(file));
        ((ObjectNode) pod.at("/spec/containers/0"))
                .withObject("/resources/limits")
                .put("tencent.com/vcuda-core", cores)
                .put("tencent.com/vcuda-memory", cores < 100 ? 15 : 0);
        return pod;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pods")
    void aPodWithAPartOfAGpuReachesMpsByTheDevicePluginAlone(Path file) {
        Answered answer = serving.create(withCores(file, 30));

        assertThat(answer.audit("rules")).as(answer.message()).isEqualTo(expected(file));
        assertThat(answer.allowed()).isEqualTo(expected(file).isEmpty());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pods")
    void whereNoMpsIsServedOrTheGpuIsWholeNothingIsSaid(Path file) {
        Answered without = new Installation().create(withCores(file, 30));
        Answered whole = serving.create(withCores(file, 100));

        assertThat(without.allowed()).as(without.message()).isTrue();
        assertThat(without.warnings()).isEmpty();
        assertThat(whole.allowed()).as(whole.message()).isTrue();
        assertThat(whole.warnings()).isEmpty();
    }

    /** Fractions of HAMi's, for instance. */
    @Test
    void whereOurDevicePluginOffersNothingItIsNotForUsToSay() {
        Answered answer =
                new Installation()
                        .mps(Reaction.Refuse)
                        .create(withCores(folder().resolve("invalid-all-at-once.yaml"), 30));

        assertThat(answer.allowed()).as(answer.message()).isTrue();
    }

    @Test
    void aSiteMayWarnInstead() {
        Answered answer =
                sharing()
                        .mps(Reaction.Warn)
                        .create(withCores(folder().resolve("invalid-all-at-once.yaml"), 30));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings())
                .satisfiesExactly(
                        it -> assertThat(it).contains("\"c\": CUDA_MPS_PIPE_DIRECTORY is for the"),
                        it -> assertThat(it).contains("spec.hostIPC is true"),
                        it -> assertThat(it).contains("hostPath /run/gpusharing reaches"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"enabled", "disabled"})
    void whoCreatesAPodMaySayWhetherItSharesByMps(String wish) {
        Answered answer = serving.create(wishing(wish));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings()).noneMatch(it -> it.contains(WISH));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Enabled", "true", "yes", "off"})
    void anotherWishIsRefusedWithWhatToWrite(String wish) {
        Answered answer = serving.create(wishing(wish));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.audit("rules")).isEqualTo("ILLEGAL_MPS");
        assertThat(answer.message())
                .contains(
                        "annotation %s is \"%s\"; write enabled or disabled, or remove it"
                                .formatted(WISH, wish));
    }

    @Test
    void aWishIsAnsweredWithAWarningWhereTheSiteServesNoMps() {
        assertThat(new Installation().create(wishing("enabled")).warnings())
                .contains(
                        "annotation %s has no effect: this site serves no MPS; the pod takes turns with others"
                                .formatted(WISH));
        assertThat(new Installation().create(wishing("disabled")).warnings())
                .noneMatch(it -> it.contains(WISH));
    }

    @Test
    void aWishIsAnsweredWithAWarningWhereThePodCannotBeAClient() {
        ObjectNode whole = wishing("enabled");
        ((ObjectNode) whole.at("/spec/containers/0/resources/limits"))
                .removeAll()
                .put("tencent.com/vcuda-core", 100);
        ObjectNode host = wishing("enabled");
        host.withObject("/spec").put("hostIPC", true);
        ObjectNode memory = wishing("enabled");
        ((ObjectNode) memory.at("/spec/containers/0"))
                .putArray("volumeMounts")
                .addObject()
                .put("name", "shm")
                .put("mountPath", "/dev/shm/");
        Installation warning = new Installation().mps(Reaction.Allow);

        assertThat(warning.create(whole).warnings())
                .anyMatch(it -> it.contains("asks for whole GPUs, which it shares with nobody"));
        assertThat(warning.create(host).warnings())
                .anyMatch(it -> it.contains(WISH + " has no effect: spec.hostIPC is true"));
        assertThat(warning.create(memory).warnings())
                .anyMatch(it ->
                        it.contains("container \"cuda\" has a volume of its own at /dev/shm"));
        ObjectNode more = wishing("enabled");
        ((ObjectNode) more.at("/spec/containers/0/resources/limits"))
                .removeAll()
                .put("cnvrg.io/metagpu", 150);
        assertThat(warning.grammars("metagpu").create(more).warnings())
                .anyMatch(it -> it.contains("container \"cuda\" asks for more than a GPU"));
    }

    @Test
    void aContainerWithoutAGpuMayHaveSharedMemoryOfItsOwn() {
        ObjectNode pod = wishing("enabled");
        ObjectNode other = ((ArrayNode) pod.at("/spec/containers")).addObject();
        other.put("name", "database").put("image", "x");
        other.putArray("volumeMounts").addObject().put("name", "v").put("mountPath", "/dev/shm");

        assertThat(serving.create(pod).warnings()).noneMatch(it -> it.contains(WISH));
    }

    private static ObjectNode wishing(String value) {
        ObjectNode pod = Manifests.halfAGpu();
        pod.withObject("/metadata/annotations").put(WISH, value);
        return pod;
    }

    static List<Path> pods() throws IOException {
        try (Stream<Path> files = Files.list(folder())) {
            return files.sorted().toList();
        }
    }

    private static Path folder() {
        try {
            return Path.of(
                    Objects.requireNonNull(MpsAdmissionTest.class.getResource("/mps")).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String expected(Path file) {
        String said =
                read(file)
                        .lines()
                        .filter(line -> line.startsWith(EXPECTED))
                        .findFirst()
                        .orElseThrow()
                        .substring(EXPECTED.length());
        return said.equals("-") ? "" : said;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
