package io.gpusharing.sidecar.attribution;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How many GPUs a pod has for itself alone, read from the amounts that admission stamped on it
 * ({@code container/resource=amount}, joined by commas).
 *
 * @param wholeGpus GPUs that are the pod's alone; 0 for fractions, or where that is unknown
 */
public record GpuRequest(int wholeGpus) {

    /** Unknown: nothing can be held to be exclusive. */
    public static final GpuRequest UNKNOWN = new GpuRequest(0);

    private static final Pattern ITEM = Pattern.compile("[^/,]*/([^,=]+)=([^,]*)");

    /** Admission writes whole numbers plainly; what is longer or none, no GPU is the pod's by. */
    private static final Pattern AMOUNT = Pattern.compile("\\d{1,9}");

    private static final int VCUDA_CORES_PER_GPU = 100;

    /**
     * Reads the annotation's text. A fraction anywhere makes the whole request a shared one, for
     * then some process of the pod runs on a GPU with other tenants.
     */
    public static GpuRequest parse(String annotation) {
        int whole = 0;
        Matcher item = ITEM.matcher(annotation);
        while (item.find()) {
            if (!AMOUNT.matcher(item.group(2)).matches()) {
                return UNKNOWN;
            }
            int amount = Integer.parseInt(item.group(2));
            switch (item.group(1)) {
                case "nvidia.com/gpu" -> whole += amount;
                case "tencent.com/vcuda-core" -> {
                    if (amount % VCUDA_CORES_PER_GPU != 0) {
                        return UNKNOWN;
                    }
                    whole += amount / VCUDA_CORES_PER_GPU;
                }
                case "tencent.com/vcuda-memory" -> {}
                default -> {
                    return UNKNOWN;
                }
            }
        }
        return new GpuRequest(whole);
    }
}
