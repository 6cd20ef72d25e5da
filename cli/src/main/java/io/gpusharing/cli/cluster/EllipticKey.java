package io.gpusharing.cli.cluster;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.fabric8.kubernetes.client.Config;
import io.gpusharing.cli.console.Failure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/**
 * A user's key of an elliptic curve in PKCS#8, as {@code openssl genpkey} writes it. The Kubernetes
 * client takes each such for one of RSA; of RFC 5915 it understands the same key.
 */
final class EllipticKey {

    /** Of a line before, and of one behind (RFC 7468). */
    private static final String BOUNDARY = "-----%s %s-----";

    private static final String BEGIN = BOUNDARY.formatted("BEGIN", "PRIVATE KEY");
    private static final String END = BOUNDARY.formatted("END", "PRIVATE KEY");

    private final ECPrivateKey key;

    private EllipticKey(ECPrivateKey key) {
        this.key = key;
    }

    /**
     * Rewrites that of the login, if it is such a one.
     *
     * @throws Failure if it cannot be read
     */
    static void understood(Config config) {
        try {
            String pem = pem(config);
            if (pem.contains(BEGIN) && pem.contains(END)) {
                var key = new EllipticKey(parsed(pem));
                config.setClientKeyData(Base64.getEncoder().encodeToString(key.pem()));
                config.setClientKeyAlgo("EC");
            }
        } catch (InvalidKeySpecException | IllegalArgumentException e) {
            // Of RSA, or no key at all: the client says so.
            return;
        } catch (IOException e) {
            throw new Failure(
                    "Cannot read the key %s that the kubeconfig names"
                            .formatted(config.getClientKeyFile()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String pem(Config config) throws IOException {
        String data = config.getClientKeyData();
        if (data != null) {
            return new String(Base64.getMimeDecoder().decode(data), US_ASCII);
        }
        String file = config.getClientKeyFile();
        return file == null ? "" : Files.readString(Path.of(file), US_ASCII);
    }

    private static ECPrivateKey parsed(String pem) throws GeneralSecurityException {
        String text = pem.substring(pem.indexOf(BEGIN) + BEGIN.length(), pem.indexOf(END));
        var spec = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(text));
        return (ECPrivateKey) KeyFactory.getInstance("EC").generatePrivate(spec);
    }

    /** {@code ECPrivateKey} of RFC 5915: a version, the number, and the name of the curve. */
    private byte[] pem() throws GeneralSecurityException, IOException {
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(key.getParams());
        byte[] der =
                der(
                        0x30,
                        der(0x02, new byte[] {1}),
                        der(0x04, number()),
                        der(0xA0, curve.getEncoded()));
        return String.join(
                        "\n",
                        BOUNDARY.formatted("BEGIN", "EC PRIVATE KEY"),
                        Base64.getMimeEncoder().encodeToString(der),
                        BOUNDARY.formatted("END", "EC PRIVATE KEY"),
                        "")
                .getBytes(US_ASCII);
    }

    /** As long as the curve's order. */
    private byte[] number() {
        BigInteger order = key.getParams().getOrder();
        byte[] number = new byte[(order.bitLength() + 7) / 8];
        byte[] digits = key.getS().toByteArray();
        int length = Math.min(digits.length, number.length);
        System.arraycopy(digits, digits.length - length, number, number.length - length, length);
        return number;
    }

    /** Of less than 128 bytes, which is enough for P-521. */
    private static byte[] der(int tag, byte[]... parts) {
        var content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        var value = new ByteArrayOutputStream();
        value.write(tag);
        value.write(content.size());
        value.writeBytes(content.toByteArray());
        return value.toByteArray();
    }
}
