package io.gpusharing.e2e.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What pods of tests run on a real GPU. It prints lines of JSON; one that says {@code failed} is
 * its last one.
 *
 * <pre>
 * see                                     which GPU it has, and whether that computes right
 * calibrate                               how many steps of a kernel take a millisecond, alone on the GPU
 * load STEPS PERCENT PERIOD SECONDS MIB   kernels of a millisecond for PERCENT of each PERIOD (milliseconds)
 * hold SECONDS MIB                        a tiny kernel twenty times a second
 * spin STEPS SECONDS                      always in the midst of a kernel, of 20 ms each
 * allocate MIB                            takes memory, in pieces of MIB, until the driver refuses
 * fault                                   writes where nothing is
 * </pre>
 */
public final class CudaProgram {

    /** How it ends when the driver answered anything but success. */
    static final int FAILED = 3;

    private static final int WRONG_WORDS = 2;
    private static final int CALIBRATED_BY = 200;
    private static final long MEBIBYTE = 1 << 20;

    private final CudaGpu gpu;
    private final PrintStream out;
    private final long work;

    /** Blocks that keep every multiprocessor busy. */
    private final int blocks;

    /** For the results of each thread. */
    private final long results;

    private CudaProgram(CudaGpu gpu, PrintStream out) throws CudaException {
        this.gpu = gpu;
        this.out = out;
        this.work = gpu.kernel("work");
        this.blocks = gpu.multiprocessors() * 8;
        this.results = gpu.allocate((long) CudaGpu.threads(blocks) * Integer.BYTES);
    }

    public static void main(String[] words) {
        System.exit(run("libcuda.so.1", System.out, List.of(words)));
    }

    /** Runs it to its end, and returns its exit status. */
    static int run(String library, PrintStream out, List<String> words) {
        try {
            return new CudaProgram(new CudaGpu(library, kernels()), out).does(words);
        } catch (CudaException e) {
            out.printf(
                    "{\"failed\": \"%s\", \"answer\": %d, \"at\": %d}%n",
                    e.call(), e.answer(), System.currentTimeMillis());
            return FAILED;
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            out.println("{\"failed\": \"its words\"}");
            return WRONG_WORDS;
        } finally {
            out.flush();
        }
    }

    private static String kernels() {
        try (InputStream file = CudaProgram.class.getResourceAsStream("kernels.ptx")) {
            return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int does(List<String> words) throws CudaException {
        switch (words.isEmpty() ? "" : words.getFirst()) {
            case "see" -> see();
            case "calibrate" -> calibrate();
            case "load" ->
                    load(
                            number(words, 1),
                            number(words, 2),
                            number(words, 3),
                            number(words, 4),
                            number(words, 5));
            case "hold" -> hold(number(words, 1), number(words, 2));
            case "spin" -> spin(number(words, 1), number(words, 2));
            case "allocate" -> allocate(number(words, 1));
            case "fault" -> fault();
            default -> throw new IndexOutOfBoundsException("no such work");
        }
        return 0;
    }

    private static long number(List<String> words, int place) {
        return Long.parseLong(words.get(place));
    }

    /** A line of JSON, at once. */
    private void say(String format, Object... values) {
        out.printf(Locale.ROOT, format + "%n", values);
        out.flush();
    }

    private void see() throws CudaException {
        CudaGpu.Memory memory = gpu.memory();
        say(
                "{\"devices\": %d, \"uuid\": \"%s\", \"multiprocessors\": %d, \"freeMiB\": %d, \"totalMiB\": %d, \"right\": %b}",
                gpu.devices(),
                gpu.uuid(),
                gpu.multiprocessors(),
                memory.free() / MEBIBYTE,
                memory.total() / MEBIBYTE,
                computesRight());
    }

    /** Whether each thread of one block comes to where this processor comes. */
    private boolean computesRight() throws CudaException {
        int steps = 10_000;
        gpu.launch(work, 1, results, steps);
        gpu.await();
        int[] found = gpu.read(results, CudaGpu.threads(1));
        for (int thread = 0; thread < found.length; thread++) {
            int value = thread;
            for (int i = 0; i < steps; i++) {
                value = value * 1_664_525 + 1_013_904_223;
            }
            if (found[thread] != value) {
                return false;
            }
        }
        return true;
    }

    private void calibrate() throws CudaException {
        long steps = 1_000;
        double milliseconds = 0;
        for (int i = 0; i < 12 && Math.abs(milliseconds - CALIBRATED_BY) > 0.5; i++) {
            if (i > 0) {
                steps = Math.max(1, (long) (steps * CALIBRATED_BY / milliseconds));
            }
            long begin = System.nanoTime();
            kernels(steps, CALIBRATED_BY);
            milliseconds = (System.nanoTime() - begin) / 1e6;
        }
        say("{\"steps\": %d, \"millisecondsOf%d\": %.2f}", steps, CALIBRATED_BY, milliseconds);
    }

    /** So many kernels, one after the other, to the end of the last one. */
    private void kernels(long steps, long count) throws CudaException {
        for (long i = 0; i < count; i++) {
            gpu.launch(work, blocks, results, steps);
        }
        gpu.await();
    }

    /** Who falls behind begins the next period at once, and makes nothing up. */
    private void load(long steps, long percent, long period, long seconds, long mebibytes)
            throws CudaException {
        take(mebibytes);
        long todo = Math.max(1, Math.round(percent * period / 100.0));
        long done = 0;
        long begin = System.nanoTime();
        long end = begin + TimeUnit.SECONDS.toNanos(seconds);
        say("{\"load\": %d, \"at\": %d}", percent, System.currentTimeMillis());
        for (long next = begin; System.nanoTime() < end; ) {
            for (long i = 0; i < todo && System.nanoTime() < end; i += 4) {
                long together = Math.min(4, todo - i);
                kernels(steps, together);
                done += together;
            }
            next = Math.max(next + TimeUnit.MILLISECONDS.toNanos(period), System.nanoTime());
            LockSupport.parkNanos(next - System.nanoTime());
        }
        say(
                "{\"kernels\": %d, \"milliseconds\": %d}",
                done, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    }

    private void hold(long seconds, long mebibytes) throws CudaException {
        take(mebibytes);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        for (long beat = 0; System.nanoTime() < end; beat++) {
            kernels(1_000, 1);
            if (beat % 20 == 0) {
                say("{\"beat\": %d, \"at\": %d}", beat, System.currentTimeMillis());
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    /** The next kernels wait in a queue before those before them have ended. */
    private void spin(long steps, long seconds) throws CudaException {
        say("{\"spins\": true, \"at\": %d}", System.currentTimeMillis());
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < end) {
            kernels(steps * 20, 10);
        }
    }

    private void allocate(long piece) throws CudaException {
        long taken = 0;
        CudaGpu.Memory memory = gpu.memory();
        try {
            while (taken <= memory.total() / MEBIBYTE) {
                gpu.allocate(piece * MEBIBYTE);
                taken += piece;
            }
        } catch (CudaException e) {
            say(
                    "{\"allocatedMiB\": %d, \"answer\": %d, \"totalMiB\": %d}",
                    taken, e.answer(), memory.total() / MEBIBYTE);
            return;
        }
        say("{\"allocatedMiB\": %d, \"answer\": 0}", taken);
    }

    private void take(long mebibytes) throws CudaException {
        if (mebibytes > 0) {
            gpu.allocate(mebibytes * MEBIBYTE);
        }
    }

    private void fault() throws CudaException {
        gpu.launch(gpu.kernel("fault"), 1, 0, 0);
        gpu.await();
        say("{\"survived\": true}");
    }
}
