package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Accounts of daily budgets as somebody would keep them on paper: second by second, each second
 * taken from what expires first. It shares no code with the product and is far too slow for it.
 */
final class PaperAccounts {

    static final String MAX_ROLLOVER_MINUTES = "10";
    static final int MAX_DEBT_PERCENT = 25;

    /** The books of a day are open so long. */
    private static final Duration CLOSES = Duration.ofHours(1);

    private static final long MAX_ROLLOVER = GpuTime.ofMinutes("10").microGpuSeconds();

    private final Instant start;
    private final ZoneId zone;
    private final Map<UUID, Life> lives = new HashMap<>();
    private final TreeMap<Instant, Map<String, String>> owners = new TreeMap<>();
    private final Map<String, Long> allowances = new HashMap<>();
    private final List<Grant> grants = new ArrayList<>();
    private final Map<String, Day> opened = new HashMap<>();
    private final Map<String, List<Closed>> closed = new HashMap<>();

    PaperAccounts(Instant start, ZoneId zone) {
        this.start = start;
        this.zone = zone;
    }

    /** What is known of a pod's life; {@code to} is null while it runs. */
    record Life(String namespace, long rate, Instant from, @Nullable Instant to) {}

    /**
     * How a budget stands, in micro-GPU-seconds.
     *
     * @param start of the period
     */
    record Balance(Instant start, long used, long remaining) {}

    /** A grant, and when it was taken back. */
    private static final class Grant {

        private final Given given;
        private @Nullable Instant ended;

        Grant(Given given) {
            this.given =
                    new Given(
                            given.name(),
                            given.budget(),
                            given.minutes(),
                            second(given.from()),
                            given.expires() == null ? null : second(given.expires()));
        }

        private static Instant second(Instant written) {
            return written.truncatedTo(ChronoUnit.SECONDS);
        }
    }

    /**
     * A day as its books begin.
     *
     * @param owed what the last day overran
     * @param carried what was left of grants that had begun before
     * @param before what had been used before it, as far as it was known by then
     */
    private record Day(
            Instant start, long rolled, long owed, Map<String, Long> carried, long before) {}

    /**
     * A day whose books are closed.
     *
     * @param allowance it had
     * @param late late usage of the time before it, observed while its own books were open
     */
    private record Closed(Day day, long allowance, long late) {}

    /** GPU time that can be used. */
    private static final class Pot {

        private static final Comparator<Pot> ORDER =
                Comparator.comparing((Pot it) -> it.planned)
                        .thenComparing(it -> it.from)
                        .thenComparing(it -> it.name);

        private final String name;
        private final Instant from;
        private final Instant until;

        /** When it was to end; what is taken back was used in its turn until then. */
        private final Instant planned;

        private long left;

        Pot(String name, long left, Instant from, Instant until, Instant planned) {
            this.name = name;
            this.left = left;
            this.from = from;
            this.until = until;
            this.planned = planned;
        }

        boolean isOpen(Instant at) {
            return !at.isBefore(from) && at.isBefore(until);
        }
    }

    void allow(String budget, GpuTime amount) {
        allowances.put(budget, amount.microGpuSeconds());
        opened.putIfAbsent(budget, new Day(start, 0, 0, Map.of(), 0));
    }

    void assign(Instant from, Map<String, String> budgetsOfNamespaces) {
        owners.put(from, Map.copyOf(budgetsOfNamespaces));
    }

    void give(Given given) {
        grants.add(new Grant(given));
    }

    void end(String grant, Instant at) {
        grants.stream()
                .filter(it -> it.given.name().equals(grant) && it.ended == null)
                .forEach(it -> it.ended = at);
    }

    void observe(UUID pod, Life life) {
        lives.put(pod, life);
    }

    /** Writes down how the days went that ended an hour ago. */
    void close(Instant now) {
        closeDaysBefore(now.minus(CLOSES), now);
    }

    /** Writes down how the days went that have ended. */
    void closeAtOnce(Instant now) {
        closeDaysBefore(now, now);
    }

    private void closeDaysBefore(Instant latest, Instant now) {
        for (String budget : allowances.keySet()) {
            Day day = Objects.requireNonNull(opened.get(budget));
            while (!dayAfter(day.start()).isAfter(latest)) {
                var closing = new Closed(day, allowance(budget), late(budget, day, now));
                closed.computeIfAbsent(budget, name -> new ArrayList<>()).add(closing);
                Walk walk = new Walk(budget, closing, now).to(dayAfter(day.start()));
                day = Objects.requireNonNull(walk.next);
                opened.put(budget, day);
            }
        }
    }

    private long allowance(String budget) {
        return Objects.requireNonNull(allowances.get(budget));
    }

    private long late(String budget, Day day, Instant now) {
        return used(budget, start, day.start(), now) - day.before();
    }

    Balance balance(String budget, Instant now) {
        return balance(budget, now, now);
    }

    /** How a budget stood at an instant, as far as it is known now. */
    Balance balance(String budget, Instant at, Instant now) {
        Day present = Objects.requireNonNull(opened.get(budget));
        Closed day =
                closed.getOrDefault(budget, List.of()).stream()
                        .filter(it -> at.isBefore(dayAfter(it.day().start())))
                        .findFirst()
                        .orElseGet(() ->
                                new Closed(present, allowance(budget), late(budget, present, now)));
        Walk walk = new Walk(budget, day, now).to(at);
        return new Balance(walk.dayStart, walk.used, walk.remaining());
    }

    /** Used in [from, to), as far as it is known now. */
    long used(String budget, Instant from, Instant to, Instant now) {
        long used = 0;
        for (long second : perSecond(budget, from, to, now)) {
            used += second;
        }
        return used;
    }

    private Instant dayAfter(Instant instant) {
        return instant.atZone(zone).toLocalDate().plusDays(1).atStartOfDay(zone).toInstant();
    }

    /** What was used in each second of [from, to). */
    private long[] perSecond(String budget, Instant from, Instant to, Instant now) {
        int length = (int) Duration.between(from, to).toSeconds();
        long[] changes = new long[length + 1];
        for (Life life : lives.values()) {
            Instant end = life.to() == null ? now : life.to();
            owners.forEach((since, map) -> {
                Instant next = owners.higherKey(since);
                if (budget.equals(map.get(life.namespace()))) {
                    int first = within(later(life.from(), since), from, length);
                    int last = within(next == null ? end : sooner(end, next), from, length);
                    if (first < last) {
                        changes[first] += life.rate();
                        changes[last] -= life.rate();
                    }
                }
            });
        }
        long[] rates = new long[length];
        long rate = 0;
        for (int i = 0; i < length; i++) {
            rate += changes[i];
            rates[i] = rate;
        }
        return rates;
    }

    private static int within(Instant instant, Instant from, int length) {
        return Math.clamp(Duration.between(from, instant).toSeconds(), 0, length);
    }

    private static Instant sooner(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    private static Instant later(Instant one, Instant other) {
        return one.isBefore(other) ? other : one;
    }

    /** From the beginning of a day on, one second after the other. */
    private final class Walk {

        private final String budget;
        private final Instant now;
        private final long allowance;
        private final List<Pot> pots = new ArrayList<>();
        private Instant at;
        private Instant dayStart;
        private Instant dayEnd;
        private long over;
        private long used;
        private @Nullable Day next;

        Walk(String budget, Closed ledger, Instant now) {
            Day day = ledger.day();
            this.budget = budget;
            this.allowance = ledger.allowance();
            this.now = now;
            this.at = day.start();
            this.dayStart = day.start();
            this.dayEnd = dayAfter(dayStart);
            fill(day.rolled());
            for (Grant grant : grants) {
                Instant until = until(grant);
                if (grant.given.budget().equals(budget)
                        && until.isAfter(day.start())
                        && until.isAfter(grant.given.from())) {
                    long left =
                            day.carried()
                                    .getOrDefault(
                                            grant.given.name(),
                                            GpuTime.ofMinutes(grant.given.minutes())
                                                    .microGpuSeconds());
                    pots.add(
                            new Pot(
                                    grant.given.name(),
                                    left,
                                    grant.given.from(),
                                    until,
                                    planned(grant)));
                }
            }
            pots.sort(Pot.ORDER);
            over = day.owed();
            pay();
            lateUsage(ledger.late());
        }

        private Instant until(Grant grant) {
            Instant end = planned(grant);
            return grant.ended == null ? end : sooner(end, grant.ended);
        }

        private Instant planned(Grant grant) {
            Instant expires = grant.given.expires();
            return expires == null ? dayAfter(grant.given.from()) : expires;
        }

        private void fill(long rolled) {
            Instant end = dayAfter(at);
            pots.add(new Pot("allowance", allowance, at, end, end));
            pots.add(new Pot("rollover", rolled, at, end, end));
            pots.sort(Pot.ORDER);
        }

        private void lateUsage(long amount) {
            used += amount;
            if (amount >= 0) {
                over += amount;
                pay();
            } else {
                pots.stream().filter(it -> it.isOpen(at)).findFirst().orElseThrow().left -= amount;
            }
        }

        private void pay() {
            for (Pot pot : pots) {
                if (over == 0) {
                    return;
                }
                if (pot.isOpen(at)) {
                    long part = Math.min(over, pot.left);
                    pot.left -= part;
                    over -= part;
                }
            }
        }

        Walk to(Instant end) {
            long[] uses = perSecond(budget, at, end, now);
            for (long use : uses) {
                over += use;
                used += use;
                pay();
                at = at.plusSeconds(1);
                if (at.equals(dayEnd)) {
                    nextDay();
                }
                // What begins now pays for what was overrun.
                pay();
            }
            return this;
        }

        private void nextDay() {
            long unused = 0;
            Map<String, Long> carried = new HashMap<>();
            for (Pot pot : pots) {
                if (pot.name.equals("allowance") && pot.until.equals(at)) {
                    unused = pot.left;
                } else if (pot.from.isBefore(at) && pot.until.isAfter(at)) {
                    carried.put(pot.name, pot.left);
                }
            }
            over = Math.min(over, allowance * MAX_DEBT_PERCENT / 100);
            long rolled = Math.min(unused, MAX_ROLLOVER);
            next = new Day(at, rolled, over, carried, used(budget, start, at, now));
            dayStart = at;
            dayEnd = dayAfter(at);
            used = 0;
            fill(rolled);
        }

        long remaining() {
            return pots.stream().filter(it -> it.isOpen(at)).mapToLong(it -> it.left).sum() - over;
        }
    }
}
