package io.gpusharing.cli.inspect;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * What a pod has of a GPU.
 *
 * @param core hundredths of its processors; null where pods ask for memory alone
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record PodPart(String namespace, String pod, @Nullable Long core, long memoryMiB) {

    static final Comparator<PodPart> BY_NAME =
            Comparator.comparing(PodPart::namespace).thenComparing(PodPart::pod);

    /** The same pod with more of the same GPU. */
    PodPart with(@Nullable Long moreCore, long moreMemoryMiB) {
        return new PodPart(
                namespace,
                pod,
                core == null || moreCore == null ? null : Long.valueOf(core + moreCore),
                memoryMiB + moreMemoryMiB);
    }
}
