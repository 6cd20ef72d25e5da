package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.aggregated.Table.Column;
import io.gpusharing.timekeeper.audit.UnreadableKind;
import io.gpusharing.timekeeper.audit.Verification;
import io.gpusharing.timekeeper.audit.VerificationRepository;
import io.swagger.v3.oas.annotations.Hidden;
import java.util.List;
import java.util.Map;
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

/**
 * {@code kubectl get verifications latest}: whether the ledger is sound, as the leader found it
 * last, which it does hourly. Whichever replica is asked says the same, but of the objects that
 * cannot be read: it says which it cannot read now.
 */
@Hidden
@RestController
@RequestMapping(Discovery.PATH + "/verifications")
class Verifications {

    private static final String LATEST = "latest";
    private static final String INCLUDE = "includeObject";

    private static final List<Column> COLUMNS =
            List.of(
                    Column.ofNames(),
                    new Column("Sound", "Whether nothing differs"),
                    new Column("At", "When it began"),
                    new Column("Differences", "What is not as the entries say"),
                    new Column("Entries", "How many were looked at"),
                    new Column("Unreadable", "How many objects of the cluster cannot be read now"));

    private final VerificationRepository verifications;
    private final UnreadableObjects unreadable;

    Verifications(VerificationRepository verifications, UnreadableObjects unreadable) {
        this.verifications = verifications;
        this.unreadable = unreadable;
    }

    /** What was found. */
    record LedgerVerification(String kind, String apiVersion, Metadata metadata, Result status) {}

    /** There is one, and it has no UID: it is no object. */
    record Metadata(String name) {}

    /** The report, with what it comes to. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Result(boolean sound, @JsonUnwrapped Verification.Report report) {}

    /** All there are. */
    record LedgerVerificationList(
            String kind,
            String apiVersion,
            Map<String, Object> metadata,
            List<LedgerVerification> items) {}

    /** None or one. */
    @GetMapping
    ResponseEntity<Object> list(
            @RequestParam Map<String, String> parameters,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        // There is no second page of one, but it cannot be watched, either.
        Listing.of(parameters);
        Predicate<String> chosen =
                Selector.names(parameters.get("fieldSelector"), parameters.get("labelSelector"));
        List<LedgerVerification> all =
                latest().stream().filter(it -> chosen.test(it.metadata().name())).toList();
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(parameters.get(INCLUDE), all)
                        : new LedgerVerificationList(
                                "LedgerVerificationList",
                                Discovery.API_VERSION,
                                Listing.metadata(null),
                                all));
    }

    /** The last one. */
    @GetMapping("/{name}")
    ResponseEntity<Object> one(
            @PathVariable String name,
            @RequestParam(name = INCLUDE, required = false) @Nullable String include,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        if (!name.equals(LATEST)) {
            throw new ResponseStatusException(
                    HttpStatus.NOT_FOUND,
                    "verifications.%s \"%s\" not found; there is %s alone"
                            .formatted(Discovery.GROUP, name, LATEST));
        }
        LedgerVerification found =
                latest().orElseThrow(() ->
                        new ResponseStatusException(
                                HttpStatus.NOT_FOUND, VerificationRepository.NONE_YET));
        return Listing.answer(Table.isAskedFor(accept) ? table(include, List.of(found)) : found);
    }

    private Optional<LedgerVerification> latest() {
        return verifications
                .read()
                .map(report -> report.beside(UnreadableKind.of(unreadable.present())))
                .map(report ->
                        new LedgerVerification(
                                "LedgerVerification",
                                Discovery.API_VERSION,
                                new Metadata(LATEST),
                                new Result(report.sound(), report)));
    }

    private static Table table(@Nullable String include, List<LedgerVerification> found) {
        return Table.of(
                Listing.metadata(null),
                include,
                COLUMNS,
                found,
                Verifications::cells,
                LedgerVerification::metadata);
    }

    private static List<String> cells(LedgerVerification found) {
        Verification.Report report = found.status().report();
        return List.of(
                found.metadata().name(),
                String.valueOf(found.status().sound()),
                report.at().toString(),
                String.valueOf(report.differences().size()),
                String.valueOf(report.entries()),
                String.valueOf(report.unreadable().stream().mapToInt(UnreadableKind::count).sum()));
    }
}
