package io.gpusharing.timekeeper.ledger.correction;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import java.util.UUID;
import org.hibernate.annotations.TenantId;
import org.jspecify.annotations.Nullable;

/** A request with an {@code Idempotency-Key}, and what it was answered. */
@Entity
class AnsweredRequest {

    @Id @GeneratedValue private @Nullable UUID id;

    @Column @TenantId private @Nullable String cluster;

    @Column private String caller;
    @Column private String key;

    /** Of everything that makes two requests the same. */
    String digest;

    String answer;

    protected AnsweredRequest() {}

    AnsweredRequest(String caller, String key, String digest, String answer) {
        this.caller = caller;
        this.key = key;
        this.digest = digest;
        this.answer = answer;
    }
}
