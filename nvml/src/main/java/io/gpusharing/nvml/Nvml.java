package io.gpusharing.nvml;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import org.jspecify.annotations.Nullable;

/**
 * What a meter asks NVML, for one thread. A function that the library lacks answers {@link
 * NvmlReturn#FUNCTION_NOT_FOUND}. All buffers are allocated once, so a question allocates nothing.
 */
public final class Nvml {

    /**
     * A type of event, a bit: an error in memory that ECC can only find. GPUs whose ECC is on
     * report it.
     */
    public static final long DOUBLE_BIT_ECC_ERROR = 0x2;

    /** A type of event, a bit: the driver met an error that has an XID number. */
    public static final long XID_CRITICAL_ERROR = 0x8;

    /** A type of event, a bit: MIG was switched, or its instances changed. */
    public static final long MIG_CONFIG_CHANGE = 0x100;

    private static final int SAMPLE_TYPE_GPU_UTILIZATION = 1;
    private static final int TEXT_BYTES = 96;

    private final NvmlFunctions functions;
    private final NvmlBuffers buffers = new NvmlBuffers();
    private final MemorySegment out = buffers.out();
    private final ProcessUtilization utilization;

    /** Binds what the library has. */
    public Nvml(SymbolLookup symbols) {
        functions = new NvmlFunctions(symbols);
        utilization = new ProcessUtilization(functions, buffers);
    }

    /** The call that is running right now, seen from another thread; null between calls. */
    public @Nullable NvmlCall inside() {
        return functions.inside();
    }

    /** How often a call was answered so, since this object was made. Safe from any thread. */
    public long failures(NvmlCall call, NvmlReturn code) {
        return functions.failures(call, code);
    }

    /** What the last call was answered, also where the method returns something else. */
    public NvmlReturn answer() {
        return functions.answer();
    }

    /** {@code nvmlInit_v2}: does not touch a GPU yet. */
    public NvmlReturn init() {
        return functions.call(NvmlCall.INIT);
    }

    /** {@code nvmlShutdown}. */
    public NvmlReturn shutdown() {
        return functions.call(NvmlCall.SHUTDOWN);
    }

    /** The driver's version as text; empty where it reports none. */
    public String driverVersion() {
        out.fill((byte) 0);
        return functions.call(NvmlCall.DRIVER_VERSION, out.address(), 80).ok()
                ? buffers.text(80)
                : "";
    }

    /** How many devices there are; {@link #result()} has the number. */
    public NvmlReturn deviceCount() {
        return functions.call(NvmlCall.DEVICE_COUNT, out.address());
    }

    /** The 32-bit number that the last successful query returned. */
    public int result() {
        return out.get(JAVA_INT, 0);
    }

    /** The handle that the last successful query returned. */
    public long handle() {
        return out.get(JAVA_LONG, 0);
    }

    /** Opens a device; {@link #handle()} has it. */
    public NvmlReturn deviceByIndex(int index) {
        return functions.call(NvmlCall.DEVICE_BY_INDEX, index, out.address());
    }

    /** The device's UUID, or null where it reports none. */
    public @Nullable String uuid(long device) {
        return textOf(NvmlCall.UUID, device);
    }

    /** The device's product name, or null where it reports none. */
    public @Nullable String name(long device) {
        return textOf(NvmlCall.NAME, device);
    }

    /** N of the device's {@code /dev/nvidiaN}; {@link #result()} has it. */
    public NvmlReturn minorNumber(long device) {
        return functions.call(NvmlCall.MINOR_NUMBER, device, out.address());
    }

    /**
     * The device's place as {@code /sys/bus/pci/devices} spells it, such as {@code 0000:3b:00.0},
     * or null where it reports none. NVML's own text has more digits, in capitals.
     */
    public @Nullable String pciBusId(long device) {
        // A GPU is always function 0 of its slot.
        return functions.call(NvmlCall.PCI_INFO, device, out.address()).ok()
                ? String.format(
                        "%04x:%02x:%02x.0",
                        out.get(JAVA_INT, 16), out.get(JAVA_INT, 20), out.get(JAVA_INT, 24))
                : null;
    }

    /** The device's memory; {@link #memoryTotal()} and {@link #memoryUsed()} have it. */
    public NvmlReturn memoryInfo(long device) {
        return functions.call(NvmlCall.MEMORY_INFO, device, out.address());
    }

    /** Bytes of all memory as the last {@link #memoryInfo} returned. */
    public long memoryTotal() {
        return out.get(JAVA_LONG, 0);
    }

    /** Bytes in use as the last {@link #memoryInfo} returned. */
    public long memoryUsed() {
        return out.get(JAVA_LONG, 16);
    }

    /** What programs can be compiled for: {@link #result()} is 90 for 9.0. */
    public NvmlReturn computeCapability(long device) {
        NvmlReturn answer =
                functions.call(
                        NvmlCall.COMPUTE_CAPABILITY, device, out.address(), out.address() + 4);
        out.set(JAVA_INT, 0, 10 * out.get(JAVA_INT, 0) + out.get(JAVA_INT, 4));
        return answer;
    }

    /** Who may use the device: {@link #result()} is a {@link ComputeMode}'s number. */
    public NvmlReturn computeMode(long device) {
        return functions.call(NvmlCall.COMPUTE_MODE, device, out.address());
    }

    /** Changes who may use the device; only root may. */
    public NvmlReturn setComputeMode(long device, ComputeMode mode) {
        return functions.call(NvmlCall.SET_COMPUTE_MODE, device, mode.number());
    }

    /** Whether MIG is on now: {@link #result()} is 1. */
    public NvmlReturn migMode(long device) {
        return functions.call(NvmlCall.MIG_MODE, device, out.address(), out.address() + 8);
    }

    /** How many MIG devices there can be; {@link #result()} has the number. */
    public NvmlReturn migMaxCount(long device) {
        return functions.call(NvmlCall.MIG_MAX_COUNT, device, out.address());
    }

    /** Opens a MIG device; indices have holes, answered {@link NvmlReturn#NOT_FOUND}. */
    public NvmlReturn migByIndex(long device, int index) {
        return functions.call(NvmlCall.MIG_BY_INDEX, device, index, out.address());
    }

    /**
     * Lists the processes on a device.
     *
     * @return the compute list's answer; graphics and MPS lists only add to it
     */
    public NvmlReturn runningProcesses(long device, ProcessList list) {
        list.clear();
        NvmlReturn compute = list(NvmlCall.COMPUTE_PROCESSES, device, list);
        if (compute.ok()) {
            list(NvmlCall.GRAPHICS_PROCESSES, device, list);
            list(NvmlCall.MPS_PROCESSES, device, list);
        }
        return compute;
    }

    private NvmlReturn list(NvmlCall call, long device, ProcessList list) {
        long bytes = functions.processEntryBytes(call);
        NvmlReturn answer = NvmlReturn.INSUFFICIENT_SIZE;
        for (int i = 0; i < NvmlBuffers.ATTEMPTS && answer == NvmlReturn.INSUFFICIENT_SIZE; i++) {
            MemorySegment rows = buffers.rows();
            int capacity =
                    bytes == 0 ? 0 : (int) Math.min(NvmlBuffers.MAX_ROWS, rows.byteSize() / bytes);
            out.set(JAVA_INT, 0, capacity);
            answer = functions.call(call, device, out.address(), rows.address());
            if (answer == NvmlReturn.INSUFFICIENT_SIZE) {
                buffers.grow(unsigned(result()) * 2 + 5);
            } else if (answer.ok()) {
                int count = (int) Math.min(capacity, unsigned(result()));
                for (int row = 0; row < count; row++) {
                    list.add(
                            unsigned(rows.get(JAVA_INT, row * bytes)),
                            rows.get(JAVA_LONG, row * bytes + 8),
                            call == NvmlCall.MPS_PROCESSES);
                }
                if (call == NvmlCall.MPS_PROCESSES) {
                    list.mpsClients = count;
                }
            }
        }
        return answer;
    }

    /**
     * Busy share per process since a moment. Asks the newer call where the older one is not
     * supported.
     *
     * @param lastSeen microseconds of CPU wall time; only what is newer counts
     */
    public NvmlReturn processUtilization(long device, long lastSeen, UtilizationRows into) {
        return utilization.since(device, lastSeen, into);
    }

    /**
     * The device's own busy history since a moment.
     *
     * @param lastSeen microseconds of CPU wall time; only what is newer counts
     */
    public NvmlReturn deviceSamples(long device, long lastSeen, DeviceSamples into) {
        into.clear(0);
        long bytes = NvmlLayouts.SAMPLE.byteSize();
        MemorySegment rows = buffers.rows();
        int capacity = (int) (rows.byteSize() / bytes);
        out.set(JAVA_INT, 0, 0);
        out.set(JAVA_INT, 8, capacity);
        NvmlReturn answer =
                functions.call(
                        NvmlCall.SAMPLES,
                        device,
                        SAMPLE_TYPE_GPU_UTILIZATION,
                        lastSeen,
                        out.address(),
                        out.address() + 8,
                        rows.address());
        if (answer.ok()) {
            int count = (int) Math.min(capacity, unsigned(out.get(JAVA_INT, 8)));
            into.clear(capacity);
            for (long at = 0; at < count * bytes; at += bytes) {
                into.add(rows.get(JAVA_LONG, at), unsigned(rows.get(JAVA_INT, at + 8)));
            }
        }
        return answer;
    }

    /** Makes a set of events; {@link #handle()} has it. */
    public NvmlReturn eventSetCreate() {
        return functions.call(NvmlCall.EVENT_SET_CREATE, out.address());
    }

    /** Gives a set back. */
    public NvmlReturn eventSetFree(long set) {
        return functions.call(NvmlCall.EVENT_SET_FREE, set);
    }

    /** Which events a device can report; {@link #eventTypes()} has their bits. */
    public NvmlReturn supportedEvents(long device) {
        return functions.call(NvmlCall.SUPPORTED_EVENTS, device, out.address());
    }

    /** The bits that the last {@link #supportedEvents} returned. */
    public long eventTypes() {
        return out.get(JAVA_LONG, 0);
    }

    /**
     * Adds a device's events to a set. One type that the device does not support, and none is added
     * ({@link NvmlReturn#NOT_SUPPORTED}).
     */
    public NvmlReturn registerEvents(long device, long types, long set) {
        return functions.call(NvmlCall.REGISTER_EVENTS, device, types, set);
    }

    /**
     * Waits for an event; {@link #handle()} is its device, {@link #eventType()} and {@link
     * #eventData()} say what it was.
     *
     * @return {@link NvmlReturn#TIMEOUT} when nothing happened
     */
    public NvmlReturn waitForEvent(long set, int timeoutMillis) {
        return functions.call(NvmlCall.EVENT_SET_WAIT, set, out.address(), timeoutMillis);
    }

    /** The type bit of the last event. */
    public long eventType() {
        return out.get(JAVA_LONG, 8);
    }

    /** The data of the last event: for a critical one its XID number. */
    public long eventData() {
        return out.get(JAVA_LONG, 16);
    }

    private @Nullable String textOf(NvmlCall call, long device) {
        out.fill((byte) 0);
        return functions.call(call, device, out.address(), TEXT_BYTES).ok()
                ? buffers.text(TEXT_BYTES)
                : null;
    }

    private static long unsigned(int value) {
        return Integer.toUnsignedLong(value);
    }
}
