package io.gpusharing.request.grammar;

import io.gpusharing.request.NodeFacts;
import java.util.OptionalLong;

/**
 * What HAMi's device plugin writes of a node's GPUs into the annotation {@code
 * hami.io/node-nvidia-register}: since 2.5 a JSON list with a {@code devmem} for each GPU, before
 * that {@code id,count,devmem,devcore,type,numa,health} with a colon after each GPU.
 *
 * @param gpus number of GPUs
 * @param mebibytes their memory together, as HAMi hands it out (scaled, if it oversells)
 * @param largest that of the largest of them
 */
record HamiRegister(long gpus, long mebibytes, long largest) {

    private static final String MEMORY_KEY = "\"devmem\":";
    private static final int MEMORY_COLUMN = 2;
    private static final HamiRegister EMPTY = new HamiRegister(0, 0, 0);

    /** The node's register, empty of GPUs if it has none or one that cannot be read. */
    static HamiRegister of(NodeFacts node) {
        String text = node.annotations().getOrDefault(NodeFacts.HAMI_REGISTER, "");
        return text.startsWith("[") ? json(text) : columns(text);
    }

    /** Memory of one GPU in MiB, their mean where they differ; empty if not known. */
    OptionalLong mebibytesPerGpu() {
        return gpus > 0 && mebibytes >= gpus
                ? OptionalLong.of(mebibytes / gpus)
                : OptionalLong.empty();
    }

    private static HamiRegister json(String text) {
        HamiRegister sum = EMPTY;
        for (int at = text.indexOf(MEMORY_KEY); at >= 0; at = text.indexOf(MEMORY_KEY, at)) {
            at += MEMORY_KEY.length();
            int end = at;
            while (end < text.length() && Character.isDigit(text.charAt(end))) {
                end++;
            }
            sum = sum.plus(NodeFacts.decimal(text.substring(at, end)));
        }
        return sum;
    }

    private static HamiRegister columns(String text) {
        HamiRegister sum = EMPTY;
        for (String gpu : text.split(":", -1)) {
            String[] columns = gpu.split(",", -1);
            if (columns.length > MEMORY_COLUMN) {
                sum = sum.plus(NodeFacts.decimal(columns[MEMORY_COLUMN]));
            }
        }
        return sum;
    }

    private HamiRegister plus(OptionalLong memory) {
        return memory.isPresent()
                ? new HamiRegister(
                        gpus + 1,
                        mebibytes + memory.getAsLong(),
                        Math.max(largest, memory.getAsLong()))
                : this;
    }
}
