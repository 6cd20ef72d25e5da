package io.gpusharing.webhook.admission;

import io.gpusharing.webhook.budget.AuthorAdmission;
import io.gpusharing.webhook.budget.BudgetAdmission;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.AdmissionResponse;
import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.pod.PodAdmission;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.webhook.review.ReviewReader;
import io.gpusharing.webhook.template.TemplateAdmission;
import java.util.Optional;
import java.util.function.Supplier;

/** From the bytes of an AdmissionReview to the bytes of its response. */
public final class Admission {

    /** Called with every decision. */
    interface Listener {
        void decided(WebhookType type, Review review, Decision decision);
    }

    private final ReviewReader reader;
    private final PodAdmission pods;
    private final TemplateAdmission templates;
    private final BudgetAdmission budgets;
    private final AuthorAdmission authors = new AuthorAdmission();
    private final Supplier<Surroundings> surroundings;
    private final Listener listener;

    Admission(
            ReviewReader reader,
            PodAdmission pods,
            TemplateAdmission templates,
            BudgetAdmission budgets,
            Supplier<Surroundings> surroundings,
            Listener listener) {
        this.reader = reader;
        this.pods = pods;
        this.templates = templates;
        this.budgets = budgets;
        this.surroundings = surroundings;
        this.listener = listener;
    }

    /** The namespace that a review is about, read from its beginning. */
    public String namespace(byte[] begin) {
        return reader.namespace(begin);
    }

    /**
     * Answers one review.
     *
     * @throws io.gpusharing.webhook.review.MalformedReviewException if it cannot be answered
     */
    public byte[] answer(WebhookType type, byte[] document) {
        Review review = reader.read(document);
        Decision decision =
                switch (type) {
                    case Mutate -> complete(review, surroundings.get());
                    case Validate -> templates.decide(review, surroundings.get());
                };
        listener.decided(type, review, decision);
        return AdmissionResponse.to(review.uid(), decision);
    }

    private Decision complete(Review review, Surroundings now) {
        if (review.isBudget()) {
            return budgets.decide(review, now);
        }
        return review.isGrant() || review.isCorrection()
                ? authors.decide(review, now)
                : pods.decide(review, now);
    }

    /**
     * Refuses what a review is about that cannot be read or judged.
     *
     * @param begin the review, or its first bytes
     * @param why in one sentence
     * @return empty if not even the review's uid can be read
     */
    public Optional<byte[]> refuse(byte[] begin, String why) {
        String uid = reader.uid(begin);
        return uid.isEmpty()
                ? Optional.empty()
                : Optional.of(AdmissionResponse.to(uid, Refused.unreadable(why)));
    }

    /**
     * Answers a review a number of times without a listener, so that the first real one finds
     * everything loaded.
     */
    public void rehearse(byte[] document, int times) {
        for (int i = 0; i < times; i++) {
            Review review = reader.read(document);
            Decision decision = pods.decide(review, surroundings.get());
            if (AdmissionResponse.to(review.uid(), decision).length == 0) {
                throw new IllegalStateException("A review without an answer");
            }
        }
    }
}
