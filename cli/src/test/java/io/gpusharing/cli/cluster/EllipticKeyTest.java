package io.gpusharing.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import io.gpusharing.cli.console.Failure;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPrivateKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EllipticKeyTest {

    @TempDir private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"secp256r1", "secp384r1", "secp521r1"})
    void theClientReadsTheSameKey(String name) throws Exception {
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec(name));
        ECParameterSpec parameters = curve.getParameterSpec(ECParameterSpec.class);
        BigInteger order = parameters.getOrder();

        for (BigInteger number :
                List.of(
                        BigInteger.ONE,
                        order.shiftRight(20),
                        order.subtract(BigInteger.ONE),
                        new BigInteger(order.bitLength() - 1, new Random(7)))) {
            PrivateKey key =
                    KeyFactory.getInstance("EC")
                            .generatePrivate(new ECPrivateKeySpec(number, parameters));

            assertThat(read(key)).as("%s", number).isEqualTo(key);
        }
    }

    @Test
    void aKeyOfRsaStaysAsItIs() throws Exception {
        PrivateKey key = KeyPairGenerator.getInstance("RSA").generateKeyPair().getPrivate();

        assertThat(read(key)).isEqualTo(key);
    }

    @Test
    void aFileIsReadToo() throws Exception {
        PrivateKey key = KeyPairGenerator.getInstance("EC").generateKeyPair().getPrivate();
        Path file =
                Files.writeString(folder.resolve("key.pem"), pem("PRIVATE KEY", key.getEncoded()));
        Config config =
                new ConfigBuilder(Config.empty()).withClientKeyFile(file.toString()).build();

        EllipticKey.understood(config);

        assertThat(config.getClientKeyAlgo()).isEqualTo("EC");
        assertThat(config.getClientKeyData()).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"A", "bm8=", "LS0tLS1CRUdJTg"})
    void whatIsNoKeyIsLeftToTheClient(String data) {
        Config config = new ConfigBuilder(Config.empty()).withClientKeyData(data).build();

        EllipticKey.understood(config);

        assertThat(config.getClientKeyData()).isEqualTo(data);
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        Config config = new ConfigBuilder(Config.empty()).withClientKeyFile("/nowhere.pem").build();

        assertThatThrownBy(() -> EllipticKey.understood(config))
                .isInstanceOf(Failure.class)
                .hasMessage("Cannot read the key /nowhere.pem that the kubeconfig names");
    }

    /** As the client has it after it was made understood, beside some certificate. */
    private static @Nullable PrivateKey read(PrivateKey key) throws Exception {
        X509Certificate certificate = certificate(key.getAlgorithm());
        Config config =
                new ConfigBuilder(Config.empty())
                        .withClientKeyData(data(pem("PRIVATE KEY", key.getEncoded())))
                        .withClientCertData(data(pem("CERTIFICATE", certificate.getEncoded())))
                        .build();
        EllipticKey.understood(config);
        var manager = (X509KeyManager) SSLUtils.keyManagers(config)[0];
        return manager.getPrivateKey(manager.getClientAliases(key.getAlgorithm(), null)[0]);
    }

    private static X509Certificate certificate(String algorithm) throws Exception {
        var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init((@Nullable KeyStore) null);
        return Stream.of(((X509TrustManager) factory.getTrustManagers()[0]).getAcceptedIssuers())
                .filter(it -> it.getPublicKey().getAlgorithm().equals(algorithm))
                .findFirst()
                .orElseThrow();
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
                .formatted(label, Base64.getMimeEncoder().encodeToString(der));
    }

    private static String data(String pem) {
        return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
    }
}
