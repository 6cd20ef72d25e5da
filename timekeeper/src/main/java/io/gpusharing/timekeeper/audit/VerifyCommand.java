package io.gpusharing.timekeeper.audit;

import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import io.gpusharing.recount.AuditLog;
import io.gpusharing.recount.Comparison;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.AotDetector;
import org.springframework.beans.BeansException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.SpringProperties;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * {@code java -jar timekeeper.jar verify [--audit-log FILE [--from T] [--to T] [--silence PT5M]]}.
 *
 * <p>Reads the configured database and changes nothing. Exit code 0: everything agrees. 1:
 * something differs, and every difference was printed. 2: nothing differs, but the log does not
 * show enough to say so of every pod. 64: the command cannot be carried out as written, or there is
 * no database to read.
 */
public final class VerifyCommand {

    /** Name of the command, the first argument. */
    public static final String NAME = "verify";

    static final int EQUAL = 0;
    static final int DIFFERENT = 1;
    static final int INCOMPLETE = 2;
    static final int USAGE = 64;

    private static final Set<String> OPTIONS = Set.of("--audit-log", "--from", "--to", "--silence");

    /** In place of a file: what kubectl exec -i hands on. */
    private static final String STANDARD_INPUT = "-";

    private static final String WRITTEN = "--audit-log FILE, --from T, --to T and --silence PT5M";

    /** One failed attempt says it all, in one line of ours. */
    private static final List<String> QUIETLY =
            List.of(
                    "--logging.level.org.springframework=error",
                    "--logging.level.org.springframework.boot=off",
                    "--logging.level.com.zaxxer.hikari.pool=off",
                    "--spring.datasource.hikari.initialization-fail-timeout=1");

    private final Verification verification;
    private final VerificationRepository found;
    private final LedgerBills bills;
    private final Clock clock;
    private final InputStream in;
    private final PrintStream out;

    VerifyCommand(
            Verification verification,
            VerificationRepository found,
            LedgerBills bills,
            Clock clock,
            InputStream in,
            PrintStream out) {
        this.verification = verification;
        this.found = found;
        this.bills = bills;
        this.clock = clock;
        this.in = in;
        this.out = out;
    }

    /**
     * Carries it out.
     *
     * @param arguments all behind the command's name: its options, and properties, whose names have
     *     a dot
     * @param in where the audit log {@code -} is read from
     * @return the exit code
     */
    public static int run(List<String> arguments, InputStream in, PrintStream out) {
        var ours = new HashMap<String, String>();
        var properties = new ArrayList<>(QUIETLY);
        for (int i = 0; i < arguments.size(); i++) {
            String[] parts = arguments.get(i).split("=", 2);
            if (parts[0].startsWith("--") && parts[0].contains(".")) {
                properties.add(arguments.get(i));
            } else if (!OPTIONS.contains(parts[0])) {
                out.println("verify has no option %s; it has %s".formatted(parts[0], WRITTEN));
                return USAGE;
            } else if (parts.length == 2) {
                ours.put(parts[0], parts[1]);
            } else if (i + 1 < arguments.size()) {
                ours.put(parts[0], arguments.get(++i));
            } else {
                out.println(parts[0] + " needs a value");
                return USAGE;
            }
        }
        // The image's beans are chosen when it is built; these are others.
        SpringProperties.setProperty(AotDetector.AOT_ENABLED, "false");
        try (ConfigurableApplicationContext context =
                new SpringApplicationBuilder(VerifyConfiguration.class)
                        .web(WebApplicationType.NONE)
                        .logStartupInfo(false)
                        .properties("logging.level.root=warn", "spring.flyway.enabled=false")
                        .run(properties.toArray(String[]::new))) {
            return new VerifyCommand(
                            context.getBean(Verification.class),
                            context.getBean(VerificationRepository.class),
                            context.getBean(LedgerBills.class),
                            context.getBean(Clock.class),
                            in,
                            out)
                    .carryOut(ours);
        } catch (BeansException
                | DataAccessException
                | TransactionException
                | PoolInitializationException e) {
            out.println("Cannot read the ledger: " + reason(e));
            return USAGE;
        }
    }

    /** What the driver says, which names the server, or what is behind everything else. */
    private static @Nullable String reason(Throwable problem) {
        Throwable behind = problem.getCause();
        return problem instanceof SQLException || behind == null
                ? problem.getMessage()
                : reason(behind);
    }

    int carryOut(Map<String, String> options) {
        String file = options.get("--audit-log");
        if (file != null) {
            return compare(file, options);
        }
        if (!options.isEmpty()) {
            out.println("--from, --to and --silence are about --audit-log FILE");
            return USAGE;
        }
        Verification.Report report = verification.run(Integer.MAX_VALUE);
        report.differences()
                .forEach(it ->
                        out.printf(
                                "DIFFERENT %s %s: stored %s, recomputed %s%n",
                                it.kind(), it.where(), it.stored(), it.recomputed()));
        found.read().ifPresent(this::unreadable);
        out.printf(
                "%d entries%s, %d differences%n",
                report.entries(),
                report.since() == null ? "" : " since " + report.since(),
                report.differences().size());
        return report.sound() ? EQUAL : DIFFERENT;
    }

    /** The command itself sees no cluster. */
    private void unreadable(Verification.Report last) {
        last.unreadable()
                .forEach(it ->
                        out.printf(
                                "UNREADABLE %s, %d at %s: %s%n",
                                it.kind(), it.count(), last.at(), String.join("; ", it.some())));
    }

    private int compare(String file, Map<String, String> options) {
        if (!file.equals(STANDARD_INPUT) && !Files.isReadable(Path.of(file))) {
            out.println("Cannot read the audit log " + file);
            return USAGE;
        }
        try {
            Duration silence = Duration.parse(options.getOrDefault("--silence", "PT5M"));
            AuditLog log =
                    file.equals(STANDARD_INPUT)
                            ? AuditLog.read(
                                    new BufferedReader(
                                            new InputStreamReader(in, StandardCharsets.UTF_8)),
                                    silence)
                            : AuditLog.read(Path.of(file), silence);
            Instant from = instant(options.get("--from"));
            Instant asked = instant(options.get("--to"));
            Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
            if (asked != null && asked.isAfter(now)) {
                out.printf("--to %s is in the future; compared until now, %s%n", asked, now);
                asked = now;
            }
            Instant to = asked != null ? asked : seconds(log.last());
            if (to == null) {
                log.defects().forEach(out::println);
                out.println("The audit log " + file + " has no event");
                return USAGE;
            }
            if (from != null && !from.isBefore(to)) {
                out.printf(
                        "--from %s is not before %s%s%n",
                        from, asked == null ? "the log's last event, " : "--to ", to);
                return USAGE;
            }
            return report(bills.against(log, from == null ? Instant.EPOCH : from, to));
        } catch (DateTimeException e) {
            out.println(
                    "Instants are written 2026-11-01T00:00:00Z, durations PT5M: " + e.getMessage());
            return USAGE;
        } catch (IOException e) {
            out.println("Cannot read the audit log " + file + ": " + e.getMessage());
            return USAGE;
        }
    }

    private int report(Comparison comparison) {
        comparison
                .findings()
                .forEach(it ->
                        out.printf(
                                "%s %s (%s): ledger %d micro-GPU-seconds, recount %s: %s%n",
                                it.verdict(),
                                it.pod(),
                                it.uid(),
                                it.ledger(),
                                it.recount() == null ? "unknown" : it.recount(),
                                it.why()));
        comparison.defects().forEach(defect -> out.println("INCOMPLETE " + defect));
        out.printf(
                "%s to %s: %d pods equal to the micro-GPU-second, %d of them shown to be on the right budget, %s%n",
                comparison.from(),
                comparison.to(),
                comparison.equal(),
                comparison.paid(),
                Arrays.stream(Comparison.Verdict.values())
                        .map(verdict ->
                                comparison.findings().stream()
                                                .filter(it -> it.verdict() == verdict)
                                                .count()
                                        + " "
                                        + verdict)
                        .toList());
        return !comparison.agrees() ? DIFFERENT : comparison.complete() ? EQUAL : INCOMPLETE;
    }

    private static @Nullable Instant instant(@Nullable String text) {
        return text == null ? null : seconds(Instant.parse(text));
    }

    private static @Nullable Instant seconds(@Nullable Instant instant) {
        return instant == null ? null : instant.truncatedTo(ChronoUnit.SECONDS);
    }
}
