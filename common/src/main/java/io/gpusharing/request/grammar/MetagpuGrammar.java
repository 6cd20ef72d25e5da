package io.gpusharing.request.grammar;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Part;
import java.util.List;

/**
 * {@code cnvrg.io/metagpu}: a number of equal shares; more than one GPU has is several GPUs, so
 * that 150 of 100 is one and a half.
 *
 * <p>cnvrg's MetaGPU cuts every GPU into 100 shares unless its {@code autoReshare} is off. A share
 * stands for as much of the processors as of the memory. The worth is known before binding.
 */
public final class MetagpuGrammar extends CountingGrammar {

    /** Shares of GPUs. */
    public static final String SHARES = "cnvrg.io/metagpu";

    /** Shares of one GPU as MetaGPU cuts it by default. */
    public static final int SHARES_PER_GPU = 100;

    private static final CountedResource RESOURCE =
            new CountedResource(
                    SHARES,
                    100 * CountedResource.A_MILLION,
                    "50 for half a GPU, or 150 for one and a half");
    private static final List<CountedResource> RESOURCES = List.of(RESOURCE);

    private final int sharesPerGpu;

    public MetagpuGrammar() {
        this(SHARES_PER_GPU);
    }

    /**
     * @param sharesPerGpu shares that one GPU is cut into
     * @throws IllegalArgumentException if that is less than 1
     */
    public MetagpuGrammar(int sharesPerGpu) {
        if (sharesPerGpu < 1) {
            throw new IllegalArgumentException("A GPU has at least one share, not " + sharesPerGpu);
        }
        this.sharesPerGpu = sharesPerGpu;
    }

    @Override
    public String name() {
        return "metagpu";
    }

    @Override
    public boolean reads(String resource) {
        return resource.equals(SHARES);
    }

    @Override
    List<CountedResource> resourcesOf(ContainerRequest container) {
        return RESOURCES;
    }

    @Override
    BoundShare worth(ContainerRequest container, NodeFacts node) {
        Part part = new Part(RESOURCE.units(container), sharesPerGpu);
        return BoundShare.exact(new GpuShare(part, part));
    }
}
