package io.gpusharing.timekeeper.aggregated;

import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.usage.RunningProcesses;
import io.gpusharing.timekeeper.usage.RunningProcesses.NodeReport;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import io.swagger.v3.oas.annotations.Hidden;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Answers {@code kubectl get podprocesses}: what pods that hold GPUs run there. Beside the right to
 * this resource it takes that to get the namespace's pods, or all, for names of programs may say
 * more than a ledger does.
 */
@Hidden
@RestController
@RequestMapping(Discovery.PATH)
class ProcessesOfPods {

    private static final String INCLUDE = "includeObject";

    /** So many pods are told of at once, also to who sets no limit. */
    private static final int MOST = 500;

    private final HeldPods pods;
    private final RunningProcesses processes;
    private final Callers callers;
    private final Clock clock;

    ProcessesOfPods(HeldPods pods, RunningProcesses processes, Callers callers, Clock clock) {
        this.pods = pods;
        this.processes = processes;
        this.callers = callers;
        this.clock = clock;
    }

    /** A page of objects. */
    record PodProcessesList(
            String kind,
            String apiVersion,
            Map<String, Object> metadata,
            List<PodProcesses> items) {}

    /** Of a namespace, or of all. */
    @GetMapping({"/podprocesses", "/namespaces/{namespace}/podprocesses"})
    ResponseEntity<Object> list(
            Authentication who,
            @PathVariable(required = false) @Nullable String namespace,
            @RequestParam Map<String, String> parameters,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        checkPodsMayBeGot(who, namespace);
        Instant now = clock.instant();
        HeldPods.Page page = pods.page(namespace, parameters, MOST, now);
        List<PodProcesses> found = processes(page.pods(), now);
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(page.metadata(), parameters.get(INCLUDE), found, now)
                        : new PodProcessesList(
                                "PodProcessesList", Discovery.API_VERSION, page.metadata(), found));
    }

    /** Of one pod. */
    @GetMapping("/namespaces/{namespace}/podprocesses/{name}")
    ResponseEntity<Object> one(
            Authentication who,
            @PathVariable String namespace,
            @PathVariable String name,
            @RequestParam(name = INCLUDE, required = false) @Nullable String include,
            @RequestHeader(name = HttpHeaders.ACCEPT, defaultValue = "") String accept) {
        checkPodsMayBeGot(who, namespace);
        Instant now = clock.instant();
        List<PodProcesses> found =
                processes(List.of(pods.one("podprocesses", namespace, name, now)), now);
        return Listing.answer(
                Table.isAskedFor(accept)
                        ? table(Listing.metadata(null), include, found, now)
                        : found.getFirst());
    }

    private void checkPodsMayBeGot(Authentication who, @Nullable String namespace) {
        Caller caller = Callers.of(who);
        if (!callers.mayGetPods(caller, namespace)) {
            throw new ResponseStatusException(
                    HttpStatus.FORBIDDEN,
                    "podprocesses.%s is forbidden: User \"%s\" cannot get resource \"pods\" in API group \"\" %s"
                            .formatted(
                                    Discovery.GROUP,
                                    caller.name(),
                                    namespace == null
                                            ? "at the cluster scope"
                                            : "in the namespace \"" + namespace + "\""));
        }
    }

    private List<PodProcesses> processes(List<PodCharge> page, Instant now) {
        Map<String, NodeReport> reports =
                processes.of(
                        page.stream().map(PodCharge::node).distinct().toList(),
                        page.stream().map(PodCharge::uid).toList(),
                        now);
        return page.stream().map(pod -> PodProcesses.of(pod, reports.get(pod.node()))).toList();
    }

    private static Table table(
            Map<String, Object> metadata,
            @Nullable String include,
            List<PodProcesses> found,
            Instant now) {
        return Table.of(
                metadata,
                include,
                PodProcesses.COLUMNS,
                found,
                pod -> pod.cells(now),
                PodProcesses::metadata);
    }
}
