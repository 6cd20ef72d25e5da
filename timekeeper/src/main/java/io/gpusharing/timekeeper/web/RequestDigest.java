package io.gpusharing.timekeeper.web;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Tells two requests apart by what they ask for. */
public final class RequestDigest {

    private RequestDigest() {}

    /** SHA-256 of everything that makes two requests the same, in hexadecimal digits. */
    public static String of(String... asked) {
        try {
            byte[] text = String.join("\n", asked).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java runtime has SHA-256", e);
        }
    }
}
