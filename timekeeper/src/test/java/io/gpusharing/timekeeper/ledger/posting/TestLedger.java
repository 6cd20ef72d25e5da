package io.gpusharing.timekeeper.ledger.posting;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.allocation.PhysicalGpu;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.audit.Verification;
import io.gpusharing.timekeeper.budget.Balances;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.cluster.PodEvent;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.timekeeper.ledger.Measurements;
import io.gpusharing.timekeeper.ledger.Measurements.Measured;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.correction.Corrections;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.statement.PodCharges;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionTemplate;

/** A timekeeper's ledger and budgets on a real database; the test plays the API server. */
public final class TestLedger {

    static final LedgerProperties PROPERTIES =
            new LedgerProperties(
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(10),
                    java.time.Period.ZERO,
                    Duration.ofMinutes(10),
                    10,
                    // So small that every simulation comes upon a posting that is committed in
                    // parts.
                    3);

    public final TestDatabase database;
    public final SteppingClock clock;
    private final Map<UUID, Pods> present;
    private final String unnamed;
    private List<Written> written;
    private final Map<UUID, Measured> measured = new ConcurrentHashMap<>();
    public final MeterRegistry registry = new SimpleMeterRegistry();
    private Measurements measurements = this::measured;
    private Weights weights = Weights.EQUAL;
    private NodeFacts node = Pods.NODE_FACTS;
    private Map<String, PhysicalGpu> gpus = Map.of();
    private ClusterView view = ClusterViews.withNode();
    private int version;
    private Budgets budgets;
    private Ledger ledger;
    private PostingRound round;

    /** Events that were not posted, because the database failed. */
    private final ArrayDeque<LedgerInput> waiting = new ArrayDeque<>();

    /** Metering starts now, in a cluster without pods. */
    public TestLedger(Instant start, Written... budgets) {
        this(
                TestDatabase.create(),
                new SteppingClock(start),
                new ConcurrentHashMap<>(),
                List.of(budgets),
                "Unlimited");
        restart();
    }

    /** The same, where namespaces that no budget names get one by default. */
    public static TestLedger withDefault(String unnamed, Instant start) {
        var ledger =
                new TestLedger(
                        TestDatabase.create(),
                        new SteppingClock(start),
                        new ConcurrentHashMap<>(),
                        List.of(),
                        unnamed);
        ledger.restart();
        return ledger;
    }

    private TestLedger(
            TestDatabase database,
            SteppingClock clock,
            Map<UUID, Pods> present,
            List<Written> written,
            String unnamed) {
        this.unnamed = unnamed;
        this.database = database;
        this.clock = clock;
        this.present = present;
        this.written = written;
        this.budgets = accounts();
        this.ledger = rows();
        this.round = round();
    }

    /** A second timekeeper on the same database, by mistake. */
    public TestLedger twin() {
        var twin = new TestLedger(database, clock, present, written, unnamed);
        twin.restart();
        return twin;
    }

    /** A second replica, which does not lead. */
    public TestLedger follower() {
        var follower = new TestLedger(database, clock, present, written, unnamed);
        follower.round.follow(
                new ArrayDeque<>(
                        List.of(
                                new LedgerInput.Task(
                                        () -> TestBudgets.exist(follower.budgets, written)))));
        return follower;
    }

    /** A replica that does not lead observes these budgets. */
    void sees(Written... now) {
        written = List.of(now);
        round.follow(
                new ArrayDeque<>(
                        List.of(new LedgerInput.Task(() -> TestBudgets.exist(budgets, written)))));
    }

    /** A replica that does not lead reads what the leader has written. */
    public void follow() {
        round.follow(new ArrayDeque<>());
    }

    /** Its term begins: the watch resumes at the last leader's position. */
    public void takeOver() {
        round.takeOver();
        pass(Duration.ZERO);
    }

    /** The pods that exist now; what happened since the last leader's position follows. */
    public void listed() {
        String position = Integer.toString(version);
        listedBeforeTheWatchIsOpen();
        post(new PodEvent.Bookmark(position, clock.instant()));
    }

    /** The same, but the API server sends it late. */
    public void listedBeforeTheWatchIsOpen() {
        version += 1_000;
        post(
                new PodEvent.Listed(
                        present.values().stream().map(Pods::facts).toList(),
                        Set.of(),
                        Integer.toString(version),
                        true,
                        clock.instant()));
    }

    /** Whether the pods are complete, so that conclusions may be drawn. */
    public boolean settled() {
        return budgets.settled();
    }

    /** The same cluster, on a backup of the database that was made earlier. */
    public TestLedger on(TestDatabase backup) {
        var restored = new TestLedger(backup, clock, present, written, unnamed);
        restored.restart();
        return restored;
    }

    /** The process is killed and starts again; its budgets are known, its pods are not yet. */
    public void wake() {
        waiting.clear();
        budgets = accounts();
        ledger = rows();
        round = round();
        post(new LedgerInput.Task(() -> TestBudgets.exist(budgets, written)));
    }

    /** The process is killed and starts again; pods that are gone now are never reported again. */
    public void restart() {
        wake();
        listedAnew();
    }

    /** The pods that exist now; what happened before is never reported. */
    public void listedAnew() {
        post(
                new PodEvent.Listed(
                        present.values().stream().map(Pods::facts).toList(),
                        Set.of(),
                        Integer.toString(++version),
                        false,
                        clock.instant()));
    }

    /** Administrators change the budgets while the process is down: the next start sees these. */
    public void writtenMeanwhile(Written... now) {
        written = List.of(now);
    }

    /** All accounts, as other parts of the timekeeper see them; others after each restart. */
    public Budgets budgets() {
        return budgets;
    }

    /** What a budget had left at an instant of the past, as the ledger knows it now. */
    public Balances balances() {
        return TestBudgets.balances(database, clock);
    }

    /** Administrators have changed the budgets to these. */
    public void exist(Written... now) {
        written = List.of(now);
        post(new LedgerInput.Task(() -> TestBudgets.exist(budgets, written)));
    }

    /** Administrators change the budgets to these while the database is away. */
    void existUnposted(Written... now) {
        written = List.of(now);
        TestBudgets.seen(budgets, written);
        waiting.add(new LedgerInput.Task(() -> TestBudgets.exist(budgets, written)));
    }

    /** The grants that exist now. */
    public void grants(TestBudgets.Given... now) {
        post(new LedgerInput.Task(() -> TestBudgets.grant(budgets, List.of(now))));
    }

    /** A pod is new or has changed. */
    public void onUpdate(Pods pod) {
        present.put(pod.uid(), pod);
        post(new PodEvent.Updated(pod.facts(), Integer.toString(++version), clock.instant()));
    }

    /** A pod is gone. */
    public void removed(Pods pod) {
        present.remove(pod.uid());
        post(new PodEvent.Deleted(pod.facts(), Integer.toString(++version), clock.instant()));
    }

    /** A pod has lost our label and is still there. */
    public void unlabelled(Pods pod) {
        present.remove(pod.uid());
        post(new PodEvent.Unlabelled(pod.facts(), Integer.toString(++version), clock.instant()));
    }

    /** A pod is gone and no timekeeper observed it. */
    public void vanished(Pods pod) {
        present.remove(pod.uid());
    }

    /** A pod has changed and no timekeeper observed it. */
    public void changedMeanwhile(Pods pod) {
        present.put(pod.uid(), pod);
    }

    /** What a sweep over all pods finds: these, which do not carry our label. */
    public void sweepFinds(Pods... pods) {
        sweepFindsBesideUnread(Set.of(), pods);
    }

    /** The same, with others that cannot be read. */
    void sweepFindsBesideUnread(Set<UUID> unread, Pods... pods) {
        post(
                new PodEvent.Resync(
                        Stream.of(pods).map(Pods::facts).toList(), unread, clock.instant()));
    }

    /** A list of the pods that exist now, of which these cannot be read. */
    void listedUnread(boolean resuming, Pods... unread) {
        Set<UUID> uids = Stream.of(unread).map(Pods::uid).collect(Collectors.toSet());
        post(
                new PodEvent.Listed(
                        present.values().stream()
                                .filter(pod -> !uids.contains(pod.uid()))
                                .map(Pods::facts)
                                .toList(),
                        uids,
                        Integer.toString(++version),
                        resuming,
                        clock.instant()));
    }

    /**
     * A node agent has reported, of the one GPU of a pod: busy and measured seconds since it began.
     */
    public void measured(Pods pod, double busy, long covered) {
        measured.put(
                pod.uid(),
                new Measured((long) (busy * 1_000_000), covered * 1_000_000, 1, clock.instant()));
    }

    /** From the next start on, measured use comes from there. */
    public void measuredBy(Measurements source) {
        measurements = source;
    }

    /** From the next start on, GPU models have these weights. */
    public void weights(Weights now) {
        weights = now;
    }

    /** From the next start on, the node has these labels. */
    public void node(NodeFacts now) {
        node = now;
    }

    /** From the next start on, the node's device plugin says that it has these GPUs. */
    public void gpus(Map<String, PhysicalGpu> now) {
        gpus = now;
    }

    /** Its device plugin's word could be read at last. */
    public void learned(Map<String, PhysicalGpu> now) {
        gpus = now;
        ClusterViews.learn(view, now);
    }

    /** Time passes, and what is due is posted. */
    public void pass(Duration time) {
        clock.pass(time);
        post(new ArrayDeque<>());
    }

    /** When the next posting is due. */
    @Nullable Instant nextDue() {
        return round.nextDue();
    }

    /** What this process writes to; another after each restart. */
    public Ledger ledger() {
        return ledger;
    }

    /** How a budget stands. */
    public BudgetState budget(String name) {
        return budgets.state(name).orElseThrow();
    }

    /** Used of the present period until now. */
    public GpuTime used(String budget) {
        return budget(budget).used(clock.instant());
    }

    /** What a pod was charged until now. */
    public GpuTime charged(Pods pod) {
        return new PodCharges(database.rows())
                .of(pod.uid(), clock.instant())
                .map(it -> new GpuTime(it.charged()))
                .orElse(GpuTime.ZERO);
    }

    /** The ledger's row of a pod's allocation. */
    public PodAllocation allocation(Pods pod) {
        return ledger.allocations(List.of(pod.uid())).getFirst();
    }

    /**
     * Recomputes everything from the entries. If nothing differs, a verification of what was posted
     * since an earlier time must find nothing either.
     */
    public List<Verification.Difference> differences() {
        List<Verification.Difference> differences = verified().differences();
        if (differences.isEmpty()) {
            Stream.of(0, 1, 5, 24)
                    .map(hours -> differencesSince(clock.instant().minus(Duration.ofHours(hours))))
                    .forEach(it -> assertThat(it).isEmpty());
        }
        return differences;
    }

    /** What is recomputed once nothing differed at an instant. */
    public List<Verification.Difference> differencesSince(Instant sound) {
        return verification().runSince(sound).differences();
    }

    Verification.Report verified() {
        return verification().run();
    }

    private Verification verification() {
        return Verifications.on(database, List.of(TestBudgets.closings(database, clock)));
    }

    private void post(PodEvent event) {
        post(new LedgerInput.Pods(event));
    }

    private void post(LedgerInput input) {
        post(new ArrayDeque<>(List.of(input)));
    }

    /** As the ledger writer does it, but a test sees the database fail, and tries again later. */
    private void post(ArrayDeque<LedgerInput> pending) {
        waiting.addAll(pending);
        while (true) {
            try {
                round.post(waiting);
                return;
            } catch (OutOfStepException e) {
                round.forget();
            } catch (RuntimeException e) {
                round.forget();
                throw e;
            }
        }
    }

    private Budgets accounts() {
        return TestBudgets.on(database, Duration.ofHours(1), clock, unnamed);
    }

    private Ledger rows() {
        return new Ledger(database.rows(), new TransactionTemplate(database.transactions()));
    }

    /** What people correct on this database. */
    public Corrections corrections() {
        return new Corrections(database.rows(), rows());
    }

    private PostingRound round() {
        view = ClusterViews.withNode(node, gpus);
        return new PostingRound(
                ledger,
                budgets,
                budgets,
                view,
                new RequestGrammars(List.of(new VcudaGrammar())),
                new ModelWeights(weights, registry),
                new Settlement(ledger, measurements, budgets, PROPERTIES),
                PROPERTIES,
                clock);
    }

    private Map<UUID, Measured> measured(Collection<UUID> pods) {
        var known = new HashMap<>(measured);
        known.keySet().retainAll(pods);
        return known;
    }
}
