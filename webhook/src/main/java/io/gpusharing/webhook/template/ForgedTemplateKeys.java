package io.gpusharing.webhook.template;

import static io.gpusharing.Names.BUDGET_ANNOTATION;
import static io.gpusharing.Names.METERED_LABEL;
import static io.gpusharing.Names.PREFIX;
import static io.gpusharing.Names.REQUEST_ANNOTATION;
import static io.gpusharing.Names.SIDECAR_ANNOTATION;
import static io.gpusharing.Names.STANDING_ANNOTATION;

import io.gpusharing.webhook.review.PodView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Where a template has keys of ours that no pod made from it could have: what depends on the
 * standing that its pods will find is left to them, and any other key may be written only by
 * administrators, which controllers are not.
 */
final class ForgedTemplateKeys {

    private static final Set<String> CHECKED_IN_PODS =
            Set.of(BUDGET_ANNOTATION, STANDING_ANNOTATION, SIDECAR_ANNOTATION);

    private ForgedTemplateKeys() {}

    /**
     * @param request the amounts that were judged
     */
    static List<String> in(PodView template, String request) {
        var forged = new ArrayList<String>();
        for (String key : ours(template.metadata().annotations())) {
            if (!CHECKED_IN_PODS.contains(key)
                    && !(key.equals(REQUEST_ANNOTATION)
                            && request.equals(template.annotation(key)))) {
                forged.add("metadata.annotations[" + key + "]");
            }
        }
        for (String key : ours(template.metadata().labels())) {
            if (!key.equals(METERED_LABEL) || !"true".equals(template.label(key))) {
                forged.add("metadata.labels[" + key + "]");
            }
        }
        return forged;
    }

    /** The keys that begin with our prefix, in the order of their names. */
    private static Set<String> ours(@Nullable Map<String, String> keys) {
        var ours = new TreeSet<String>();
        if (keys != null) {
            for (String key : keys.keySet()) {
                if (key.startsWith(PREFIX)) {
                    ours.add(key);
                }
            }
        }
        return ours;
    }
}
