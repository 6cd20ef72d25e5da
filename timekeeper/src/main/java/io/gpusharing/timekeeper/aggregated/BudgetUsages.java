package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.aggregated.Table.Column;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import io.gpusharing.timekeeper.usage.MeasuredUse;
import io.swagger.v3.oas.annotations.Hidden;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** {@code kubectl get budgetusages}: what budgets have paid for, beside what was done with it. */
@Hidden
@RestController
@RequestMapping(Discovery.PATH + "/budgetusages")
class BudgetUsages {

    private static final String NONE = "<none>";
    private static final String INCLUDE = "includeObject";

    private static final List<Column> COLUMNS =
            List.of(
                    Column.ofNames(),
                    new Column("Standing", "Whether its pods are in budget"),
                    new Column("Granted", "GPU-minutes of this period"),
                    new Column("Used", "GPU-minutes of them"),
                    new Column("GPUs", "What its pods hold now, in whole GPUs"),
                    new Column("Exhausted-at", "When it ends at this rate").wide(),
                    new Column("Resets", "When the period ends").wide());

    private final Budgets budgets;
    private final MeasuredUse measured;
    private final Clock clock;

    BudgetUsages(Budgets budgets, MeasuredUse measured, Clock clock) {
        this.budgets = budgets;
        this.measured = measured;
        this.clock = clock;
    }

    /** A budget's use. */
    record BudgetUsage(String kind, String apiVersion, Metadata metadata, Status status) {}

    /** By which the budget is known; the UID is that of the {@code GpuBudget}. */
    record Metadata(String name, String uid) {}

    /**
     * As of the moment of the question, in GPU-minutes of the present period.
     *
     * @param grantedMinutes absent if it is unlimited
     * @param measuredMinutes what pods that held a share in this period were measured to do; of a
     *     single budget alone, as all its pods have to be looked up
     * @param exhaustedAt when it ends, or ended, at the present rate; absent if not in this period
     * @param resetsAt when the period ends; absent if it never does
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Status(
            String standing,
            @Nullable String grantedMinutes,
            String usedMinutes,
            @Nullable String measuredMinutes,
            String gpus,
            @Nullable Instant exhaustedAt,
            @Nullable Instant resetsAt,
            List<Part> namespaces) {}

    /** What one of its namespaces used. */
    record Part(String name, String usedMinutes, String gpus) {}

    /** All of them. */
    record BudgetUsageList(
            String kind,
            String apiVersion,
            Map<String, Object> metadata,
            List<BudgetUsage> items) {}

    /** By name. */
    @GetMapping
    ResponseEntity<Object> list(
            @RequestParam Map<String, String> parameters,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        Listing listing = Listing.of(parameters);
        Instant now = clock.instant();
        Predicate<String> chosen =
                Selector.names(parameters.get("fieldSelector"), parameters.get("labelSelector"));
        String after = listing.after() == null ? "" : listing.after().getFirst();
        List<BudgetState> found =
                budgets.states().values().stream()
                        .filter(state -> state.name().compareTo(after) > 0)
                        .filter(state -> chosen.test(state.name()))
                        .sorted(Comparator.comparing(BudgetState::name))
                        .toList();
        int limit = Objects.requireNonNullElse(listing.limit(), found.size());
        boolean goesOn = found.size() > limit;
        List<BudgetUsage> page =
                found.stream().limit(limit).map(state -> usage(state, now, null)).toList();
        Map<String, Object> metadata =
                Listing.metadata(
                        goesOn
                                ? Listing.continued(List.of(page.getLast().metadata().name()))
                                : null);
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(metadata, parameters.get(INCLUDE), page)
                        : new BudgetUsageList(
                                "BudgetUsageList", Discovery.API_VERSION, metadata, page));
    }

    /** One of them. */
    @GetMapping("/{name}")
    ResponseEntity<Object> one(
            @PathVariable String name,
            @RequestParam(name = INCLUDE, required = false) @Nullable String include,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        BudgetUsage usage =
                Optional.ofNullable(budgets.states().get(name))
                        .map(state ->
                                usage(
                                        state,
                                        clock.instant(),
                                        measured.ofBudget(state.name(), state.period().start())
                                                .minutes()))
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "budgetusages.%s \"%s\" not found"
                                                .formatted(Discovery.GROUP, name)));
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(Listing.metadata(null), include, List.of(usage))
                        : usage);
    }

    private static BudgetUsage usage(
            BudgetState state, Instant now, @Nullable String measuredMinutes) {
        Instant at = now.isBefore(state.asOf()) ? state.asOf() : now;
        return new BudgetUsage(
                "BudgetUsage",
                Discovery.API_VERSION,
                new Metadata(state.name(), state.uid()),
                new Status(
                        state.standingWord(at),
                        state.granted(at).map(GpuTime::minutes).orElse(null),
                        state.used(at).minutes(),
                        measuredMinutes,
                        GpuShare.inGpus(state.rate()),
                        state.exhaustedAt(),
                        state.period().end(),
                        state.namespacesAt(at).stream().map(BudgetUsages::part).toList()));
    }

    private static Part part(NamespaceUse use) {
        return new Part(use.namespace(), use.used().minutes(), GpuShare.inGpus(use.rate()));
    }

    private static Table table(
            Map<String, Object> metadata, @Nullable String include, List<BudgetUsage> usages) {
        return Table.of(
                metadata, include, COLUMNS, usages, BudgetUsages::cells, BudgetUsage::metadata);
    }

    private static List<String> cells(BudgetUsage usage) {
        Status status = usage.status();
        return List.of(
                usage.metadata().name(),
                status.standing(),
                Objects.requireNonNullElse(status.grantedMinutes(), "unlimited"),
                status.usedMinutes(),
                status.gpus(),
                Objects.toString(status.exhaustedAt(), NONE),
                Objects.toString(status.resetsAt(), NONE));
    }
}
