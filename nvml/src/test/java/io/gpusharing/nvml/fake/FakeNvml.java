package io.gpusharing.nvml.fake;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.gpusharing.nvml.NvmlCall;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.TimeSource;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * NVML as upcall stubs behind a symbol lookup: what a meter calls through the C ABI lands here. It
 * plays a {@link Scenario} on a clock of the test's choice. The calls allocate nothing.
 */
public final class FakeNvml implements SymbolLookup {

    private static final long HANDLE = 0x4700_0000L;
    private static final long MIG_HANDLE = 0x4800_0000L;
    static final long MPS_SERVER = 4_000;
    private static final int RING = 72;
    private static final long PERIOD = 200_000;

    @SuppressWarnings("restricted") // A library sees all memory; so does its stand-in.
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private final Map<Integer, Integer> computeModes = new ConcurrentHashMap<>();
    private final Scenario scenario;
    private final TimeSource time;
    private final long startMicros;
    private final long driver;
    private final List<List<FakeProcess>> processes = new ArrayList<>();
    private final List<Ring> rings = new ArrayList<>();
    private final Map<String, MemorySegment> stubs = new HashMap<>();
    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private final LinkedBlockingQueue<Scenario.Event> raised = new LinkedBlockingQueue<>();
    private final AtomicLongArray registered;
    private final boolean[] lost;
    private int initialised;
    private int reported;

    /** Plays a scenario that begins now. */
    public FakeNvml(Scenario scenario, TimeSource time) {
        this.scenario = scenario;
        this.time = time;
        this.startMicros = time.monotonicMicros();
        this.driver = driver(scenario.driver);
        this.registered = new AtomicLongArray(scenario.devices.size());
        this.lost = new boolean[scenario.devices.size()];
        for (int i = 0; i < scenario.devices.size(); i++) {
            int device = i;
            List<FakeProcess> here =
                    scenario.processes.stream().filter(p -> p.device() == device).toList();
            processes.add(here);
            rings.add(
                    new Ring(
                            here,
                            RING,
                            PERIOD,
                            scenario.turns ? new Turns(here, scenario.randomTurns) : null));
        }
        export(NvmlCall.INIT, "init", "nvmlInit_v2");
        export(NvmlCall.SHUTDOWN, "shutdown", "nvmlShutdown");
        export(NvmlCall.DRIVER_VERSION, "driverVersion", "nvmlSystemGetDriverVersion");
        export(NvmlCall.DEVICE_COUNT, "count", "nvmlDeviceGetCount_v2");
        export(NvmlCall.DEVICE_BY_INDEX, "byIndex", "nvmlDeviceGetHandleByIndex_v2");
        export(NvmlCall.UUID, "uuid", "nvmlDeviceGetUUID");
        export(NvmlCall.NAME, "name", "nvmlDeviceGetName");
        export(NvmlCall.MINOR_NUMBER, "minor", "nvmlDeviceGetMinorNumber");
        export(NvmlCall.PCI_INFO, "pci", "nvmlDeviceGetPciInfo_v3");
        export(NvmlCall.SAMPLES, "samples", "nvmlDeviceGetSamples");
        export(NvmlCall.MEMORY_INFO, "memory", "nvmlDeviceGetMemoryInfo");
        export(NvmlCall.PROCESS_UTILIZATION, "utilization", "nvmlDeviceGetProcessUtilization");
        export(NvmlCall.COMPUTE_CAPABILITY, "capability", "nvmlDeviceGetCudaComputeCapability");
        export(NvmlCall.COMPUTE_MODE, "computeMode", "nvmlDeviceGetComputeMode");
        export(NvmlCall.SET_COMPUTE_MODE, "setComputeMode", "nvmlDeviceSetComputeMode");
        export(NvmlCall.MIG_MODE, "migMode", "nvmlDeviceGetMigMode");
        export(NvmlCall.MIG_MAX_COUNT, "migCount", "nvmlDeviceGetMaxMigDeviceCount");
        export(NvmlCall.MIG_BY_INDEX, "migByIndex", "nvmlDeviceGetMigDeviceHandleByIndex");
        export(NvmlCall.EVENT_SET_CREATE, "eventSet", "nvmlEventSetCreate");
        export(NvmlCall.EVENT_SET_FREE, "freeEventSet", "nvmlEventSetFree");
        export(NvmlCall.SUPPORTED_EVENTS, "events", "nvmlDeviceGetSupportedEventTypes");
        export(NvmlCall.REGISTER_EVENTS, "register", "nvmlDeviceRegisterEvents");
        export(NvmlCall.EVENT_SET_WAIT, "event", "nvmlEventSetWait_v2");
        exportLists();
        if (driver >= version(550, 0, 0)) {
            export(
                    NvmlCall.PROCESSES_UTILIZATION_INFO,
                    "utilizationInfo",
                    "nvmlDeviceGetProcessesUtilizationInfo");
        }
        scenario.without.forEach(stubs::remove);
    }

    /** Lists came in three shapes, one suffix each; the bare name keeps the first. */
    private void exportLists() {
        String compute = "nvmlDeviceGetComputeRunningProcesses";
        String graphics = "nvmlDeviceGetGraphicsRunningProcesses";
        String mps = "nvmlDeviceGetMPSComputeRunningProcesses";
        boolean wideV3 = driver >= version(530, 0, 0) && driver < version(535, 98, 0);
        export(NvmlCall.COMPUTE_PROCESSES, "compute16", compute);
        export(NvmlCall.GRAPHICS_PROCESSES, "graphics", graphics);
        if (driver >= version(455, 0, 0)) {
            export(NvmlCall.COMPUTE_PROCESSES, "compute24", compute + "_v2");
            export(NvmlCall.GRAPHICS_PROCESSES, "graphics", graphics + "_v2");
        }
        if (driver >= version(470, 0, 0)) {
            export(NvmlCall.MPS_PROCESSES, "mps16", mps);
            export(NvmlCall.MPS_PROCESSES, "mps24", mps + "_v2");
        }
        if (driver >= version(510, 0, 0)) {
            String shape = wideV3 ? "compute32" : "compute24";
            export(NvmlCall.COMPUTE_PROCESSES, shape, compute + "_v3");
            export(NvmlCall.GRAPHICS_PROCESSES, "graphics", graphics + "_v3");
            export(NvmlCall.MPS_PROCESSES, "mps24", mps + "_v3");
        }
    }

    @SuppressWarnings("restricted") // Upcall stubs are what makes this a library.
    private void export(NvmlCall call, String method, String symbol) {
        FunctionDescriptor descriptor = call.descriptor();
        try {
            MethodHandle target =
                    MethodHandles.lookup()
                            .findVirtual(FakeNvml.class, method, descriptor.toMethodType())
                            .bindTo(this);
            stubs.put(symbol, Linker.nativeLinker().upcallStub(target, descriptor, Arena.ofAuto()));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        return Optional.ofNullable(stubs.get(symbol));
    }

    /** How often a symbol was called. */
    public int calls(String symbol) {
        AtomicInteger count = calls.get(symbol);
        return count == null ? 0 : count.get();
    }

    /** Takes a GPU off the bus, or brings it back. */
    public void lose(int device, boolean isLost) {
        lost[device] = isLost;
    }

    /**
     * Lets a GPU report an event, to who waits already or to who waits next. As NVML, it forgets
     * what nobody has registered for.
     */
    public void raise(int device, long type, long data) {
        if (isRegistered(device, type)) {
            raised.add(new Scenario.Event(device, type, data, 0));
        }
    }

    private boolean isRegistered(int device, long type) {
        return (registered.get(device) & type) != 0;
    }

    /** Lets every hanging call return. */
    public void release() {
        released.countDown();
    }

    /** What a process really used since the scenario began, in microseconds of a whole GPU. */
    public long truthMicros(FakeProcess process) {
        int device = process.device();
        long done = rings.get(device).done(processes.get(device).indexOf(process));
        return done >= 0 ? done : process.busyHundredths(0, now()) / 100;
    }

    private long now() {
        return time.monotonicMicros() - startMicros;
    }

    private static long driver(String text) {
        String[] parts = text.split("\\.", -1);
        try {
            return version(
                    Integer.parseInt(parts[0]),
                    parts.length > 1 ? Integer.parseInt(parts[1]) : 0,
                    parts.length > 2 ? Integer.parseInt(parts[2]) : 0);
        } catch (NumberFormatException e) {
            // A driver whose version nobody can read is a new one.
            return version(900, 0, 0);
        }
    }

    private static long version(int major, int minor, int patch) {
        return (major * 1_000L + minor) * 1_000 + patch;
    }

    private int enter(String symbol) {
        return enterAbout(symbol, -1);
    }

    /**
     * Counts the call, and answers what the scenario injects; 0 for nothing.
     *
     * @param asked index of the GPU that it is about; negative for none
     */
    private int enterAbout(String symbol, int asked) {
        AtomicInteger counter = calls.get(symbol);
        if (counter == null) {
            counter = new AtomicInteger();
            calls.put(symbol, counter);
        }
        int number = counter.getAndIncrement();
        Integer hangs = scenario.hangsAfter.get(symbol);
        if (hangs != null && number >= hangs) {
            try {
                released.await();
            } catch (InterruptedException e) {
                return NvmlReturn.TIMEOUT.code();
            }
        }
        Long latency = scenario.latencyMicros.get(symbol);
        if (latency != null && time instanceof VirtualTime virtual) {
            virtual.passMicros(latency);
        }
        for (int i = 0; i < scenario.failures.size(); i++) {
            Scenario.Failure failure = scenario.failures.get(i);
            if (failure.hits(symbol, number, asked)) {
                return failure.code();
            }
        }
        return initialised > 0 || symbol.startsWith("nvmlInit")
                ? 0
                : NvmlReturn.UNINITIALIZED.code();
    }

    private int enter(String symbol, long device) {
        int code = enterAbout(symbol, index(device));
        if (code == 0 && device < MIG_HANDLE && lost[index(device)]) {
            return NvmlReturn.GPU_IS_LOST.code();
        }
        return code;
    }

    private static int index(long device) {
        return (int) ((device >= MIG_HANDLE ? device - MIG_HANDLE : device - HANDLE) / 64);
    }

    private Ring ring(long device) {
        Ring ring = rings.get(index(device));
        ring.advance(now(), time.wallMicros() - now());
        return ring;
    }

    int init() {
        int code = enter("nvmlInit_v2");
        initialised += code == 0 ? 1 : 0;
        return code;
    }

    int shutdown() {
        int code = enter("nvmlShutdown");
        initialised = Math.max(0, initialised - 1);
        return code;
    }

    int driverVersion(long text, int length) {
        int code = enter("nvmlSystemGetDriverVersion");
        return code != 0 ? code : write(scenario.driver, text, length);
    }

    private static int write(String value, long at, int length) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        // As some drivers do: what fills the buffer has no NUL at its end.
        for (int i = 0; i < Math.min(bytes.length, length); i++) {
            ALL.set(JAVA_BYTE, at + i, bytes[i]);
        }
        if (bytes.length < length) {
            ALL.set(JAVA_BYTE, at + bytes.length, (byte) 0);
        }
        return 0;
    }

    int count(long count) {
        int code = enter("nvmlDeviceGetCount_v2");
        ALL.set(JAVA_INT, count, scenario.devices.size());
        return code;
    }

    int byIndex(int index, long handle) {
        int code = enterAbout("nvmlDeviceGetHandleByIndex_v2", index);
        if (code != 0) {
            return code;
        }
        if (lost[index]) {
            return NvmlReturn.GPU_IS_LOST.code();
        }
        ALL.set(JAVA_LONG, handle, HANDLE + index * 64L);
        return 0;
    }

    int uuid(long device, long text, int length) {
        int code = enter("nvmlDeviceGetUUID", device);
        if (code != 0) {
            return code;
        }
        Scenario.Device gpu = scenario.devices.get(index(device));
        return write(
                device >= MIG_HANDLE ? gpu.migUuids().get((int) (device % 64)) : gpu.uuid(),
                text,
                length);
    }

    int name(long device, long text, int length) {
        int code = enter("nvmlDeviceGetName", device);
        return code != 0 ? code : write(scenario.devices.get(index(device)).name(), text, length);
    }

    int minor(long device, long minor) {
        int code = enter("nvmlDeviceGetMinorNumber", device);
        ALL.set(JAVA_INT, minor, scenario.devices.get(index(device)).minor());
        return code;
    }

    int pci(long device, long info) {
        int code = enter("nvmlDeviceGetPciInfo_v3", device);
        if (code != 0) {
            return code;
        }
        String place = scenario.devices.get(index(device)).pci();
        String[] parts = place.split("[:.]", -1);
        for (int i = 0; i < 3; i++) {
            ALL.set(JAVA_INT, info + 16 + 4L * i, Integer.parseUnsignedInt(parts[i], 16));
        }
        write(place.toUpperCase(Locale.ROOT), info, 16);
        return write("0000" + place.toUpperCase(Locale.ROOT), info + 36, 32);
    }

    int memory(long device, long memory) {
        int code = enter("nvmlDeviceGetMemoryInfo", device);
        long total = scenario.devices.get(index(device)).memoryBytes();
        long used = 0;
        List<FakeProcess> here = processes.get(index(device));
        for (int i = 0; i < here.size(); i++) {
            used += here.get(i).alive(now()) ? here.get(i).memoryBytes() : 0;
        }
        ALL.set(JAVA_LONG, memory, total);
        ALL.set(JAVA_LONG, memory + 8, total - used);
        ALL.set(JAVA_LONG, memory + 16, used);
        return code;
    }

    int samples(long device, int type, long lastSeen, long valueType, long count, long samples) {
        int code = enter("nvmlDeviceGetSamples", device);
        if (code != 0) {
            return code;
        }
        Ring ring = ring(device);
        int newer = ring.newerThan(lastSeen);
        if (newer == 0) {
            return NvmlReturn.NOT_FOUND.code();
        }
        for (int i = 0; i < newer; i++) {
            long at = samples + 16L * i;
            ALL.set(JAVA_LONG, at, ring.stampOf(newer - 1 - i));
            ALL.set(JAVA_LONG, at + 8, ring.percentOf(newer - 1 - i));
        }
        ALL.set(JAVA_INT, valueType, 1);
        ALL.set(JAVA_INT, count, newer);
        return 0;
    }

    int utilization(long device, long rows, long count, long lastSeen) {
        int code = enter("nvmlDeviceGetProcessUtilization", device);
        if (code != 0) {
            return code;
        }
        int capacity = ALL.get(JAVA_INT, count);
        int written = writeRows(device, lastSeen, rows, capacity, 32);
        ALL.set(JAVA_INT, count, Math.abs(written));
        return answer(written);
    }

    int utilizationInfo(long device, long info) {
        int code = enter("nvmlDeviceGetProcessesUtilizationInfo", device);
        if (code != 0) {
            return code;
        }
        if (ALL.get(JAVA_INT, info) != (24 | 1 << 24)) {
            return NvmlReturn.ARGUMENT_VERSION_MISMATCH.code();
        }
        int capacity = ALL.get(JAVA_INT, info + 4);
        long lastSeen = ALL.get(JAVA_LONG, info + 8);
        int written = writeRows(device, lastSeen, ALL.get(JAVA_LONG, info + 16), capacity, 40);
        ALL.set(JAVA_INT, info + 4, Math.abs(written));
        return answer(written);
    }

    private int answer(int written) {
        return written == 0
                ? scenario.emptyIsSuccess ? 0 : NvmlReturn.NOT_FOUND.code()
                : written < 0 ? NvmlReturn.INSUFFICIENT_SIZE.code() : 0;
    }

    /** Writes the rows; a negative number says how many there are when they do not fit. */
    private int writeRows(long device, long lastSeen, long rows, int capacity, int rowBytes) {
        Ring ring = ring(device);
        List<FakeProcess> here = processes.get(index(device));
        int written = 0;
        for (int i = 0; i < here.size(); i++) {
            int percent = ring.percent(i, lastSeen, now());
            if (percent < 0 || here.get(i).hostPid() < 0) {
                continue;
            }
            if (written < capacity) {
                long pid = scenario.mps ? MPS_SERVER : pidInSamples(here.get(i));
                write(rows, rowBytes, written, pid, percent, ring.stamp(i));
            }
            written++;
        }
        for (int i = 0; i < scenario.rows.size() && written < capacity; i++, written++) {
            Scenario.Row row = scenario.rows.get(i);
            write(
                    rows,
                    rowBytes,
                    written,
                    row.pid(),
                    (int) row.sm(),
                    row.atMicros() + time.wallMicros());
        }
        return written > capacity ? -written : written;
    }

    private static void write(long rows, int rowBytes, int row, long pid, int percent, long stamp) {
        long at = rows + (long) rowBytes * row;
        int pidAt = rowBytes == 40 ? 8 : 0;
        ALL.set(JAVA_LONG, at + 8 - pidAt, stamp);
        ALL.set(JAVA_INT, at + pidAt, (int) pid);
        ALL.set(JAVA_INT, at + (rowBytes == 40 ? 12 : 16), percent);
    }

    private long pidInSamples(FakeProcess process) {
        boolean translated = driver >= version(570, 86, 15);
        return scenario.view == Scenario.View.SHARED && translated && process.podPid() != 0
                ? process.podPid()
                : process.hostPid();
    }

    /** The pid in lists; 0 where the caller's namespace hides the process. */
    private long pidInList(FakeProcess process) {
        if (scenario.view == Scenario.View.HOST || driver < version(535, 113, 1)) {
            return Math.max(0, process.hostPid());
        }
        return scenario.view == Scenario.View.SHARED ? process.podPid() : 0;
    }

    private long memoryInList(FakeProcess process) {
        boolean forgotten = driver >= version(535, 113, 1) && driver < version(565, 0, 0);
        return scenario.view != Scenario.View.HOST && forgotten ? 0 : process.memoryBytes();
    }

    int compute16(long device, long count, long entries) {
        return list("nvmlDeviceGetComputeRunningProcesses", device, count, entries, 16);
    }

    int compute24(long device, long count, long entries) {
        return list("nvmlDeviceGetComputeRunningProcesses_v2", device, count, entries, 24);
    }

    int compute32(long device, long count, long entries) {
        return list("nvmlDeviceGetComputeRunningProcesses_v3", device, count, entries, 32);
    }

    int graphics(long device, long count, long entries) {
        ALL.set(JAVA_INT, count, 0);
        return enter("nvmlDeviceGetGraphicsRunningProcesses", device);
    }

    int mps16(long device, long count, long entries) {
        return mps(device, count, entries, 16);
    }

    int mps24(long device, long count, long entries) {
        return mps(device, count, entries, 24);
    }

    private int mps(long device, long count, long entries, int bytes) {
        if (scenario.mps) {
            return list(
                    "nvmlDeviceGetMPSComputeRunningProcesses",
                    device,
                    count,
                    entries,
                    bytes,
                    MPS_SERVER);
        }
        ALL.set(JAVA_INT, count, 0);
        return enter("nvmlDeviceGetMPSComputeRunningProcesses", device);
    }

    private int list(String symbol, long device, long count, long entries, int bytes) {
        return list(symbol, device, count, entries, bytes, 0);
    }

    private int list(String symbol, long device, long count, long entries, int bytes, long butPid) {
        int code = enter(symbol, device);
        if (code != 0) {
            return code;
        }
        int capacity = ALL.get(JAVA_INT, count);
        int listed = 0;
        List<FakeProcess> here = processes.get(index(device));
        for (int i = 0; i < here.size(); i++) {
            FakeProcess process = here.get(i);
            long pid = pidInList(process);
            if (pid == 0 || pid == butPid || !process.alive(now())) {
                continue;
            }
            if (listed < capacity) {
                long at = entries + (long) bytes * listed;
                ALL.set(JAVA_INT, at, (int) pid);
                ALL.set(JAVA_LONG, at + 8, memoryInList(process));
                if (bytes > 16) {
                    ALL.set(JAVA_LONG, at + 16, -1L);
                }
                if (bytes > 24) {
                    ALL.set(JAVA_LONG, at + 24, 0L);
                }
            }
            listed++;
        }
        ALL.set(JAVA_INT, count, listed);
        return listed > capacity ? NvmlReturn.INSUFFICIENT_SIZE.code() : 0;
    }

    int capability(long device, long major, long minor) {
        int code = enter("nvmlDeviceGetCudaComputeCapability", device);
        ALL.set(JAVA_INT, major, 9);
        ALL.set(JAVA_INT, minor, 0);
        return code;
    }

    int computeMode(long device, long mode) {
        int code = enter("nvmlDeviceGetComputeMode", device);
        ALL.set(JAVA_INT, mode, computeModes.getOrDefault(index(device), 0));
        return code;
    }

    int setComputeMode(long device, int mode) {
        int code = enter("nvmlDeviceSetComputeMode", device);
        if (code == 0) {
            computeModes.put(index(device), mode);
        }
        return code;
    }

    int migMode(long device, long current, long pending) {
        int code = enter("nvmlDeviceGetMigMode", device);
        int mode = scenario.devices.get(index(device)).migUuids().isEmpty() ? 0 : 1;
        ALL.set(JAVA_INT, current, mode);
        ALL.set(JAVA_INT, pending, mode);
        return code;
    }

    int migCount(long device, long count) {
        int code = enter("nvmlDeviceGetMaxMigDeviceCount", device);
        ALL.set(JAVA_INT, count, 7);
        return code;
    }

    int migByIndex(long device, int index, long handle) {
        int code = enter("nvmlDeviceGetMigDeviceHandleByIndex", device);
        List<String> instances = scenario.devices.get(index(device)).migUuids();
        if (code != 0) {
            return code;
        }
        if (index >= instances.size() || instances.get(index).isEmpty()) {
            return NvmlReturn.NOT_FOUND.code();
        }
        ALL.set(JAVA_LONG, handle, MIG_HANDLE + index(device) * 64L + index);
        return 0;
    }

    int eventSet(long set) {
        int code = enter("nvmlEventSetCreate");
        ALL.set(JAVA_LONG, set, 0x5e7L);
        return code;
    }

    /** All sets are one, so what was registered for goes with any of them. */
    int freeEventSet(long set) {
        int code = enter("nvmlEventSetFree");
        for (int i = 0; i < registered.length(); i++) {
            registered.set(i, 0);
        }
        raised.clear();
        return code;
    }

    int events(long device, long types) {
        int code = enter("nvmlDeviceGetSupportedEventTypes", device);
        ALL.set(JAVA_LONG, types, scenario.devices.get(index(device)).events());
        return code;
    }

    int register(long device, long types, long set) {
        int code = enter("nvmlDeviceRegisterEvents", device);
        if (code != 0) {
            return code;
        }
        if ((types & ~scenario.devices.get(index(device)).events()) != 0) {
            return NvmlReturn.NOT_SUPPORTED.code();
        }
        registered.accumulateAndGet(index(device), types, (had, more) -> had | more);
        return 0;
    }

    int event(long set, long data, int timeoutMillis) {
        int code = enter("nvmlEventSetWait_v2");
        if (code != 0) {
            return code;
        }
        Scenario.Event event = nextEvent(timeoutMillis);
        if (event == null) {
            return NvmlReturn.TIMEOUT.code();
        }
        ALL.set(JAVA_LONG, data, HANDLE + event.device() * 64L);
        ALL.set(JAVA_LONG, data + 8, event.type());
        ALL.set(JAVA_LONG, data + 16, event.data());
        return 0;
    }

    private Scenario.@Nullable Event nextEvent(int timeoutMillis) {
        while (reported < scenario.events.size()
                && scenario.events.get(reported).atMicros() <= now()) {
            Scenario.Event event = scenario.events.get(reported++);
            if (isRegistered(event.device(), event.type())) {
                return event;
            }
        }
        if (time instanceof VirtualTime virtual) {
            Scenario.Event event = raised.poll();
            if (event == null) {
                virtual.passMicros(timeoutMillis * 1_000L);
            }
            return event;
        }
        try {
            return raised.poll(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }
}
