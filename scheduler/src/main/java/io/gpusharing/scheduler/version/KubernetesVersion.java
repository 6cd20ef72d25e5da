package io.gpusharing.scheduler.version;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A release of Kubernetes. */
record KubernetesVersion(int major, int minor, int patch) {

    /**
     * Distributions add something of their own: v1.31.4-eks-a737599, v1.31.4+k3s1. Of pre-releases
     * and of builds from source nobody publishes images.
     */
    private static final Pattern RELEASE =
            Pattern.compile(
                    "v([1-9]\\d{0,4})\\.(\\d{1,5})\\.(\\d{1,5})(?:(?!-(?:alpha|beta|rc)\\.)[-+].*)?");

    /** Reads the version of an API server, or the tag of an image; empty if it is none. */
    static Optional<KubernetesVersion> parse(String text) {
        Matcher release = RELEASE.matcher(text);
        return release.matches()
                ? Optional.of(
                        new KubernetesVersion(
                                Integer.parseInt(release.group(1)),
                                Integer.parseInt(release.group(2)),
                                Integer.parseInt(release.group(3))))
                : Optional.empty();
    }

    /** Under which upstream publishes its images. */
    String tag() {
        return "v%d.%d.%d".formatted(major, minor, patch);
    }

    /** The first release of the same minor version. */
    KubernetesVersion first() {
        return new KubernetesVersion(major, minor, 0);
    }

    /** How many minor releases this one is older; negative if it is newer. */
    int minorsBehind(KubernetesVersion other) {
        return major == other.major
                ? other.minor - minor
                : Integer.signum(other.major - major) * 100;
    }
}
