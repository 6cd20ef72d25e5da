package io.gpusharing.timekeeper.budget.grant;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.Names;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.account.GpuBudget;
import io.gpusharing.timekeeper.budget.account.Grant;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A {@code GpuGrant} as the API server stores it. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind("GpuGrant")
@Plural("gpugrants")
public class GpuGrant extends CustomResource<GpuGrant.Spec, Void> {

    /**
     * What it grants. It cannot be changed.
     *
     * @param notBefore first instant at which it counts; null from its creation on
     * @param expiresAt first instant at which it does not; null for the end of the period
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Spec(
            String budget,
            String gpuMinutes,
            String reason,
            @Nullable String notBefore,
            @Nullable String expiresAt) {}

    /** It never counts before it was made. */
    Grant grant() {
        Instant created = Instant.parse(getMetadata().getCreationTimestamp());
        Instant notBefore = instant(getSpec().notBefore());
        Instant expires = instant(getSpec().expiresAt());
        if (expires != null && expires.isBefore(Instant.EPOCH)) {
            throw new IllegalArgumentException(
                    "spec.expiresAt is " + expires + "; use a later day");
        }
        Map<String, String> annotations =
                Objects.requireNonNullElse(getMetadata().getAnnotations(), Map.of());
        String author = annotations.get(Names.AUTHOR_ANNOTATION);
        return new Grant(
                getMetadata().getUid(),
                getMetadata().getName(),
                getSpec().budget(),
                GpuTime.ofMinutes(getSpec().gpuMinutes()),
                storable(getSpec().reason()),
                author == null ? null : storable(author),
                notBefore == null || notBefore.isBefore(created) ? created : notBefore,
                expires);
    }

    /** No database text holds the character 0, and the API server lets it pass. */
    private static String storable(String text) {
        return text.replace('\0', '\uFFFD');
    }

    private static @Nullable Instant instant(@Nullable String time) {
        return time == null ? null : OffsetDateTime.parse(time).toInstant();
    }
}
