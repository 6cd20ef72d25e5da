package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.ResourceQuotaSpec;
import io.fabric8.kubernetes.api.model.ResourceQuotaStatus;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.webhook.cluster.Quota.Scope;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Reads ResourceQuotas as they are in the cluster. */
final class QuotaReader {

    private QuotaReader() {}

    /** What a quota leaves. One that nobody has counted yet leaves everything. */
    static Quota quota(ResourceQuota found) {
        var left = new HashMap<String, BigDecimal>();
        ResourceQuotaStatus status = found.getStatus();
        if (status != null && status.getHard() != null && status.getUsed() != null) {
            status.getHard()
                    .forEach((name, hard) -> {
                        var used = status.getUsed().get(name);
                        String resource = resource(name);
                        if (used != null && !resource.isEmpty()) {
                            BigDecimal rest =
                                    ResourceReader.amount(hard)
                                            .value()
                                            .subtract(ResourceReader.amount(used).value());
                            left.merge(resource, rest, BigDecimal::min);
                        }
                    });
        }
        return new Quota(found.getMetadata().getName(), left, scopes(found.getSpec()));
    }

    private static String resource(String name) {
        return switch (name) {
            case "cpu", "requests.cpu" -> "requests.cpu";
            case "memory", "requests.memory" -> "requests.memory";
            case "pods", "count/pods" -> "pods";
            case "limits.cpu", "limits.memory" -> name;
            default -> "";
        };
    }

    private static List<Scope> scopes(ResourceQuotaSpec spec) {
        var scopes = new ArrayList<Scope>();
        if (spec != null) {
            Objects.requireNonNullElse(spec.getScopes(), List.<String>of())
                    .forEach(name -> scopes.add(new Scope(name, "Exists", Set.of())));
            if (spec.getScopeSelector() != null) {
                spec.getScopeSelector()
                        .getMatchExpressions()
                        .forEach(it ->
                                scopes.add(
                                        new Scope(
                                                it.getScopeName(),
                                                it.getOperator(),
                                                Set.copyOf(it.getValues()))));
            }
        }
        return scopes;
    }
}
