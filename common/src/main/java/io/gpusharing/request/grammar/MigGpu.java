package io.gpusharing.request.grammar;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The GPUs that can be divided into MIG instances, and the profiles each of them offers. A profile
 * is named after its compute slices and its memory, so that the same name is another part of
 * another GPU: {@code 1g.10gb} is an eighth of the memory of an A100 with 80 GB and a quarter of
 * one with 40 GB.
 *
 * <p>Source: the supported profiles of NVIDIA's MIG user guide and the configurations that ship
 * with NVIDIA/mig-parted.
 */
enum MigGpu {
    A100_40GB(40, 7, 8, "1g.5gb=1 1g.10gb=2 2g.10gb=2 3g.20gb=4 4g.20gb=4 7g.40gb=8", "-40GB"),
    A100_H100_80GB(
            80,
            7,
            8,
            "1g.10gb=1 1g.20gb=2 2g.20gb=2 3g.40gb=4 4g.40gb=4 7g.80gb=8",
            "-80GB H100-PCIe"),
    H100_94GB(
            94,
            7,
            8,
            "1g.12gb=1 1g.24gb=2 2g.24gb=2 3g.47gb=4 4g.47gb=4 7g.94gb=8",
            "H100-NVL H800-NVL -94GB"),
    H100_96GB(
            96,
            7,
            8,
            "1g.12gb=1 1g.24gb=2 2g.24gb=2 3g.48gb=4 4g.48gb=4 7g.96gb=8",
            "GH200 NVIDIA-H20 -96GB"),
    H200(141, 7, 8, "1g.18gb=1 1g.35gb=2 2g.35gb=2 3g.71gb=4 4g.71gb=4 7g.141gb=8", "NVIDIA-H200"),
    GH200_144GB(144, 7, 8, "1g.18gb=1 1g.36gb=2 2g.36gb=2 3g.72gb=4 4g.72gb=4 7g.144gb=8", "GH200"),
    B200(180, 7, 8, "1g.23gb=1 1g.45gb=2 2g.45gb=2 3g.90gb=4 4g.90gb=4 7g.180gb=8", "NVIDIA-B200"),
    GB200(189, 7, 8, "1g.24gb=1 1g.47gb=2 2g.47gb=2 3g.95gb=4 4g.95gb=4 7g.189gb=8", "GB200"),
    B300(269, 7, 8, "1g.34gb=1 1g.67gb=2 2g.67gb=2 3g.135gb=4 4g.135gb=4 7g.269gb=8", "B300"),
    A30(24, 4, 4, "1g.6gb=1 2g.12gb=2 4g.24gb=4", "A30"),
    RTX_PRO_6000(96, 4, 4, "1g.24gb=1 2g.48gb=2 4g.96gb=4", "RTX-PRO-6000"),
    RTX_PRO_5000(48, 2, 2, "1g.24gb=1 2g.48gb=2", "RTX-PRO-5000"),
    RTX_PRO_4500(32, 2, 2, "1g.16gb=1 2g.32gb=2", "RTX-PRO-4500");

    /** What a profile's name means on one GPU. */
    record Reading(MigGpu gpu, MigSlice slice) {}

    private static final Map<String, List<Reading>> READINGS = new HashMap<>();

    static {
        for (MigGpu gpu : values()) {
            for (String entry : gpu.profiles.split(" ", -1)) {
                int equals = entry.indexOf('=');
                String profile = entry.substring(0, equals);
                int compute = Integer.parseInt(profile.substring(0, profile.indexOf('g')));
                int memory = Integer.parseInt(entry.substring(equals + 1));
                READINGS.computeIfAbsent(profile, name -> new ArrayList<>())
                        .add(
                                new Reading(
                                        gpu,
                                        new MigSlice(
                                                compute,
                                                gpu.computeSlices,
                                                memory,
                                                gpu.memorySlices)));
            }
        }
    }

    private final int gigabytes;
    private final int computeSlices;
    private final int memorySlices;
    private final String profiles;
    private final String products;

    /**
     * @param profiles each profile with its memory slices
     * @param products parts of the product's name as gpu-feature-discovery writes it, any of which
     *     names this GPU
     */
    MigGpu(int gigabytes, int computeSlices, int memorySlices, String profiles, String products) {
        this.gigabytes = gigabytes;
        this.computeSlices = computeSlices;
        this.memorySlices = memorySlices;
        this.profiles = profiles;
        this.products = products;
    }

    /**
     * What a profile means on each GPU that offers it; empty if none does.
     *
     * @param profile for instance {@code 1g.10gb}; what follows the memory adds or takes away
     *     engines and changes no slice ({@code +me}, which is {@code .me} in resources and {@code
     *     me} in labels, {@code +gfx}, {@code -me})
     */
    static List<Reading> readings(String profile) {
        int end = profile.indexOf("gb") + 2;
        if (end < 2 || end == profile.length()) {
            return READINGS.getOrDefault(profile, List.of());
        }
        String engines = profile.substring(end);
        boolean known =
                ".+-".indexOf(engines.charAt(0)) >= 0
                        || engines.startsWith("me")
                        || engines.startsWith("gfx");
        return known ? READINGS.getOrDefault(profile.substring(0, end), List.of()) : List.of();
    }

    /** Whether the product's name says that it is this GPU. */
    boolean isNamedBy(String product) {
        for (String part : products.split(" ", -1)) {
            if (product.contains(part)) {
                return true;
            }
        }
        return false;
    }

    /** How far a GPU's memory is from this GPU's, in MiB. */
    long distance(long mebibytes) {
        return Math.abs(gigabytes * 1024L - mebibytes);
    }
}
