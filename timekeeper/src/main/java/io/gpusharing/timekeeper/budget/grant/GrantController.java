package io.gpusharing.timekeeper.budget.grant;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.ApiTime;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuGrant;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.Grant;
import io.gpusharing.timekeeper.budget.grant.GrantOrders.Outcome;
import io.gpusharing.timekeeper.budget.grant.GrantOrders.Outcome.Expired;
import io.gpusharing.timekeeper.budget.grant.GrantOrders.Outcome.Granted;
import io.gpusharing.timekeeper.budget.grant.GrantOrders.Outcome.KeyReused;
import io.gpusharing.timekeeper.budget.grant.GrantOrders.Outcome.Revoked;
import io.gpusharing.timekeeper.budget.store.GrantRepository;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.Page;
import io.gpusharing.web.Caller;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Time on top of a budget. */
@RestController
@RequestMapping("/api/v1/budgets/{budget}/grants")
class GrantController {

    private final GrantRepository book;
    private final GrantOrders orders;
    private final Budgets budgets;

    GrantController(GrantRepository book, GrantOrders orders, Budgets budgets) {
        this.book = book;
        this.orders = orders;
        this.budgets = budgets;
    }

    /**
     * Time to be granted.
     *
     * @param gpuMinutes whole-GPU minutes, a decimal number above 0 in quotes
     * @param reason for whoever reads the ledger later
     * @param notBefore first instant at which it counts; at once if absent
     * @param expiresAt first instant at which it does not; the end of the period if absent
     */
    record Wanted(
            @NotNull String gpuMinutes,
            @NotBlank @Size(max = 1024) String reason,
            @Nullable Instant notBefore,
            @Nullable Instant expiresAt) {}

    /**
     * A grant that was made: the {@code GpuGrant} of that name.
     *
     * @param again whether an earlier request with the same key had made it
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Made(
            String name,
            String uid,
            String budget,
            long amount,
            String gpuMinutes,
            String reason,
            String author,
            @Nullable Instant notBefore,
            @Nullable Instant expiresAt,
            Instant created,
            boolean again) {}

    /**
     * A grant as it was written down.
     *
     * @param amount micro-GPU-seconds
     * @param author absent if its object did not say
     * @param expires absent for the end of the period
     * @param ended when its object was deleted; absent while it stands
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Given(
            String uid,
            String name,
            String budget,
            long amount,
            String amountMinutes,
            String reason,
            @Nullable String author,
            Instant from,
            @Nullable Instant expires,
            @Nullable Instant ended) {

        static Given of(Grant grant) {
            return new Given(
                    grant.uid(),
                    grant.name(),
                    grant.budget(),
                    grant.amount().microGpuSeconds(),
                    grant.amount().minutes(),
                    grant.reason(),
                    grant.author(),
                    grant.from(),
                    grant.expires(),
                    grant.ended());
        }
    }

    /** A budget's grants, those that have ended included. */
    @GetMapping
    ResponseEntity<List<Given>> all(
            @PathVariable String budget,
            @RequestParam(defaultValue = "1000") int limit,
            @RequestParam(required = false) @Nullable String after) {
        List<Grant> page = book.of(budget, after, Page.size(limit));
        return Page.of(page.stream().map(Given::of).toList(), limit, Given::uid);
    }

    /**
     * Makes a {@code GpuGrant} in the name of whoever asks, who needs the right to create {@code
     * gpugrants}.
     *
     * @param key any text of the asker's that names this grant; sent again with the same content it
     *     is answered the same and grants nothing more, with another content it is refused
     */
    @PostMapping
    @ApiResponse(responseCode = "201", description = "It was made")
    @ApiResponse(responseCode = "200", description = "An earlier request had made it")
    ResponseEntity<Made> make(
            @PathVariable String budget,
            @RequestHeader("Idempotency-Key") String key,
            @Valid @RequestBody Wanted wanted,
            Authentication who) {
        Caller caller = Callers.of(who);
        budgets.existing(budget);
        GpuGrant.Spec order =
                new GpuGrant.Spec(
                        budget,
                        wanted.gpuMinutes(),
                        wanted.reason(),
                        text(wanted.notBefore()),
                        text(wanted.expiresAt()));
        GpuTime amount = amount(wanted.gpuMinutes());
        String token = (String) Objects.requireNonNull(who.getCredentials());
        Outcome outcome = orders.carryOut(order, caller.name(), token, key);
        return switch (outcome) {
            case Granted made ->
                    ResponseEntity.status(made.again() ? HttpStatus.OK : HttpStatus.CREATED)
                            .body(
                                    new Made(
                                            made.name(),
                                            made.uid(),
                                            budget,
                                            amount.microGpuSeconds(),
                                            wanted.gpuMinutes(),
                                            wanted.reason(),
                                            caller.name(),
                                            wanted.notBefore(),
                                            wanted.expiresAt(),
                                            ApiTime.read(made.created()),
                                            made.again()));
            case KeyReused reused ->
                    throw new ResponseStatusException(
                            HttpStatus.UNPROCESSABLE_CONTENT,
                            "The Idempotency-Key %s has made another grant, %s; use a new one for a new grant"
                                    .formatted(key, reused.name()));
            case Revoked revoked ->
                    throw new ResponseStatusException(
                            HttpStatus.CONFLICT,
                            "The grant of this Idempotency-Key, %s, has been deleted since; use a new key to grant it again"
                                    .formatted(revoked.name()));
            case Expired expired ->
                    throw new ResponseStatusException(
                            HttpStatus.UNPROCESSABLE_CONTENT,
                            "expiresAt is %s, which has passed, so that nothing would be granted; use an instant after %s, or none for the end of the period"
                                    .formatted(wanted.expiresAt(), expired.now()));
        };
    }

    private static GpuTime amount(String minutes) {
        try {
            GpuTime amount = GpuTime.ofMinutes(minutes);
            if (amount.isPositive()) {
                return amount;
            }
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(
                    HttpStatus.UNPROCESSABLE_CONTENT, String.valueOf(e.getMessage()), e);
        }
        throw new ResponseStatusException(
                HttpStatus.UNPROCESSABLE_CONTENT,
                "gpuMinutes is above 0, not %s; to take time away, lower the budget"
                        .formatted(minutes));
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
