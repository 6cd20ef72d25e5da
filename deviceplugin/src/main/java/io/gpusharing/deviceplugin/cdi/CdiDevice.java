package io.gpusharing.deviceplugin.cdi;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The name by which one container gets its GPUs. It is made for one allocation and cannot be
 * guessed: NVIDIA's runtime takes whatever CDI name a pod writes into its environment.
 *
 * @param name 32 hexadecimal digits
 */
public record CdiDevice(String name) {

    static final String KIND = "gpusharing.io/gpu";

    private static final SecureRandom RANDOM = new SecureRandom();

    private static final String PREFIX = KIND + "=";

    private static final Pattern OURS = Pattern.compile(PREFIX + "[0-9a-f]{32}");

    /** A new one. */
    public static CdiDevice make() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return new CdiDevice(HexFormat.of().formatHex(bytes));
    }

    /** As the kubelet remembers it; empty if the name is none of ours. */
    public static Optional<CdiDevice> of(String qualifiedName) {
        return OURS.matcher(qualifiedName).matches()
                ? Optional.of(new CdiDevice(qualifiedName.substring(PREFIX.length())))
                : Optional.empty();
    }

    /** With its kind, as container runtimes take it. */
    public String qualifiedName() {
        return PREFIX + name;
    }
}
