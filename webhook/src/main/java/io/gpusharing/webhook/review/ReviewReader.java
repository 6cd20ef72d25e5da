package io.gpusharing.webhook.review;

import static io.gpusharing.webhook.review.JsonFields.begin;
import static io.gpusharing.webhook.review.JsonFields.bool;
import static io.gpusharing.webhook.review.JsonFields.isObject;
import static io.gpusharing.webhook.review.JsonFields.list;
import static io.gpusharing.webhook.review.JsonFields.nextField;
import static io.gpusharing.webhook.review.JsonFields.once;
import static io.gpusharing.webhook.review.JsonFields.sliceFrom;
import static io.gpusharing.webhook.review.JsonFields.textOrEmpty;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** Reads an AdmissionReview of version v1 from the bytes that were posted. */
public final class ReviewReader {

    private static final String VERSION = "admission.k8s.io/v1";

    private final Predicate<String> gpuResource;
    private final Predicate<String> claimedResource;

    private final JsonFactory factory = new ReviewJsonFactory();

    /**
     * @param gpuResource resources that ask for GPUs
     * @param claimedResource resources for which the scheduler makes a claim, maybe for GPUs
     */
    public ReviewReader(Predicate<String> gpuResource, Predicate<String> claimedResource) {
        this.gpuResource = gpuResource;
        this.claimedResource = claimedResource;
    }

    /**
     * Reads one review.
     *
     * @throws MalformedReviewException if it is not one
     */
    public Review read(byte[] document) {
        try (JsonParser json = parser(document, 0, document.length)) {
            json.nextToken();
            return new ReviewFields(json, document).read();
        } catch (JacksonException e) {
            throw new MalformedReviewException("This is not JSON: " + e.getOriginalMessage());
        }
    }

    /**
     * The namespace that a review is about; empty where its beginning does not say so. An API
     * server writes it before the object.
     */
    public String namespace(byte[] begin) {
        return ofRequest("namespace", begin);
    }

    /** What a review's answer has to name; empty where its beginning does not say so. */
    public String uid(byte[] begin) {
        return ofRequest("uid", begin);
    }

    private String ofRequest(String field, byte[] begin) {
        try (JsonParser json = parser(begin, 0, begin.length)) {
            json.nextToken();
            return goTo(json, "request") && goTo(json, field) ? textOrEmpty(json) : "";
        } catch (JacksonException | MalformedReviewException _) {
            return "";
        }
    }

    /** Whether the object that begins here has this field; the parser is then at its value. */
    private static boolean goTo(JsonParser json, String name) {
        if (isObject(json)) {
            for (String field; (field = nextField(json)) != null; json.skipChildren()) {
                if (field.equals(name)) {
                    return true;
                }
            }
        }
        return false;
    }

    private JsonParser parser(byte[] document, int from, int length) {
        return factory.createParser(ObjectReadContext.empty(), document, from, length);
    }

    /** A review while it is being read. Its fields may come in any order. */
    private final class ReviewFields {

        private final JsonParser json;
        private final byte[] document;
        private String version = "";
        private String reviewKind = "";
        private boolean hasRequest;
        private String uid = "";
        private @Nullable String group;
        private String kind = "";
        private String subresource = "";
        private String operation = "";
        private String namespace = "";
        private String name = "";
        private boolean dryRun;
        private String userName = "";
        private List<String> userGroups = List.of();
        private Slice object = Slice.NONE;
        private Slice oldObject = Slice.NONE;
        private @Nullable PodView pod;

        ReviewFields(JsonParser json, byte[] document) {
            this.json = json;
            this.document = document;
        }

        Review read() {
            if (json.currentToken() != JsonToken.START_OBJECT) {
                throw new MalformedReviewException("This is not a JSON object");
            }
            for (String field; (field = nextField(json)) != null; ) {
                switch (field) {
                    case "apiVersion" -> version = textOrEmpty(json);
                    case "kind" -> reviewKind = textOrEmpty(json);
                    case "request" -> request();
                    default -> json.skipChildren();
                }
            }
            if (json.nextToken() != null) {
                throw new MalformedReviewException("There is more after the review");
            }
            check();
            var review =
                    new Review(
                            uid,
                            group == null ? "" : group,
                            kind,
                            subresource,
                            operation,
                            namespace,
                            name,
                            dryRun,
                            userName,
                            userGroups,
                            object,
                            oldObject,
                            pod);
            return review.isPod() && pod == null ? withPod(review) : review;
        }

        private void check() {
            if (!version.equals(VERSION) || !reviewKind.equals("AdmissionReview")) {
                throw new MalformedReviewException(
                        "This is not an AdmissionReview of %s but \"%s\" of \"%s\""
                                .formatted(VERSION, reviewKind, version));
            }
            if (!hasRequest) {
                throw new MalformedReviewException("The AdmissionReview has no request");
            }
            if (uid.isEmpty()) {
                throw new MalformedReviewException("The AdmissionReview's request has no uid");
            }
            if (kind.isEmpty()) {
                throw new MalformedReviewException("The AdmissionReview's request has no kind");
            }
        }

        private void request() {
            if (!isObject(json)) {
                return;
            }
            hasRequest = true;
            for (String field; (field = nextField(json)) != null; ) {
                switch (field) {
                    case "uid" -> uid = textOrEmpty(json);
                    case "kind" -> kind();
                    case "subResource" -> subresource = textOrEmpty(json);
                    case "operation" -> operation = textOrEmpty(json);
                    case "namespace" -> namespace = textOrEmpty(json);
                    case "name" -> name = textOrEmpty(json);
                    case "dryRun" -> dryRun = bool(json);
                    case "userInfo" -> user();
                    case "object" -> object();
                    case "oldObject" -> oldObject = skipped();
                    default -> json.skipChildren();
                }
            }
        }

        private void kind() {
            if (isObject(json)) {
                for (String field; (field = nextField(json)) != null; ) {
                    switch (field) {
                        case "group" -> group = textOrEmpty(json);
                        case "kind" -> kind = textOrEmpty(json);
                        default -> json.skipChildren();
                    }
                }
            }
        }

        private void user() {
            if (isObject(json)) {
                for (String field; (field = nextField(json)) != null; ) {
                    switch (field) {
                        case "username" -> userName = textOrEmpty(json);
                        case "groups" -> {
                            List<String> groups = list(json, () -> textOrEmpty(json));
                            userGroups = groups == null ? List.of() : groups;
                        }
                        default -> json.skipChildren();
                    }
                }
            }
        }

        /** The API server names the kind before the object, so that one pass is enough. */
        private void object() {
            once(object.isEmpty(), "object");
            if (kind.equals("Pod") && "".equals(group) && isObject(json)) {
                pod = new PodReader(json, document, gpuResource, claimedResource).read();
                object = pod.source();
            } else {
                object = skipped();
            }
        }

        private Slice skipped() {
            if (!isObject(json)) {
                return Slice.NONE;
            }
            int begin = begin(json);
            json.skipChildren();
            return sliceFrom(begin, json, document);
        }

        private Review withPod(Review review) {
            if (object.isEmpty()) {
                return review;
            }
            try (JsonParser again = parser(document, 0, object.to())) {
                // Not cut out, so that slices keep counting from the document's beginning.
                seek(again, object.from());
                PodView read = new PodReader(again, document, gpuResource, claimedResource).read();
                return new Review(
                        uid,
                        "",
                        kind,
                        subresource,
                        operation,
                        namespace,
                        name,
                        dryRun,
                        userName,
                        userGroups,
                        object,
                        oldObject,
                        read);
            }
        }

        private static void seek(JsonParser json, int begin) {
            while (json.nextToken() != null && begin(json) < begin) {
                // What comes before was read already.
            }
        }
    }
}
