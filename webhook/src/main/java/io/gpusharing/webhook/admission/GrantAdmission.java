package io.gpusharing.webhook.admission;

import io.gpusharing.Names;
import io.gpusharing.webhook.admission.Decision.Allowed;
import io.gpusharing.webhook.admission.Decision.Untouched;
import io.gpusharing.webhook.injection.ObjectPatch;
import io.gpusharing.webhook.review.MalformedReviewException;
import io.gpusharing.webhook.review.PodReader;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.webhook.review.Slice;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes into a new {@code GpuGrant} who made it, as the API server knows them: the ledger names an
 * author for every minute on top, and only here is it known.
 */
final class GrantAdmission {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    /** The decision about one review; everything but new grants is none of its business. */
    Decision decide(Review review) {
        if (!review.isGrant() || !review.operation().equals("CREATE")) {
            return new Untouched();
        }
        Slice object = review.object();
        try (JsonParser json =
                MAPPER.createParser(object.document(), object.from(), object.length())) {
            var patch = new ObjectPatch(PodReader.readMetadata(json));
            patch.annotate(Names.AUTHOR_ANNOTATION, review.userName());
            return new Allowed(patch, List.of(), Map.of("author", review.userName()));
        } catch (JacksonException e) {
            throw new MalformedReviewException("The grant is not JSON: " + e.getOriginalMessage());
        }
    }
}
