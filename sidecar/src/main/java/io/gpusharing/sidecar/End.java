package io.gpusharing.sidecar;

import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;

/**
 * The exit code of this process, however it ends.
 *
 * <p>A virtual machine that gets SIGTERM ends with 143, which a Job's {@code podFailurePolicy}
 * takes for a failure of the pod. A pod that works for a second only ends while its meter still
 * starts, on a tenth of a core for seconds: hence this is the first that a meter does.
 */
final class End {

    private volatile IntSupplier code = () -> 0;

    private End() {}

    /**
     * Runs a program, and ends this process with its exit code; with 0 if it is asked to end before
     * the program says more, and with 1 by what it throws.
     */
    static void of(ToIntFunction<End> program) {
        End end = new End();
        Runtime runtime = Runtime.getRuntime();
        runtime.addShutdownHook(
                Thread.ofPlatform().unstarted(() -> runtime.halt(end.code.getAsInt())));
        try {
            System.exit(program.applyAsInt(end));
        } catch (RuntimeException | Error e) {
            end.with(() -> 1);
            throw e;
        }
    }

    /**
     * From now on this comes before the end.
     *
     * @param last runs when the process ends, by itself or by SIGTERM, and says its exit code
     */
    void with(IntSupplier last) {
        code = last;
    }
}
