package io.gpusharing.webhook.review;

import static io.gpusharing.webhook.review.JsonFields.begin;
import static io.gpusharing.webhook.review.JsonFields.field;
import static io.gpusharing.webhook.review.JsonFields.isList;
import static io.gpusharing.webhook.review.JsonFields.isObject;
import static io.gpusharing.webhook.review.JsonFields.nextEntry;
import static io.gpusharing.webhook.review.JsonFields.nextField;
import static io.gpusharing.webhook.review.JsonFields.once;
import static io.gpusharing.webhook.review.JsonFields.scalar;
import static io.gpusharing.webhook.review.JsonFields.sliceFrom;
import static io.gpusharing.webhook.review.JsonFields.text;
import static io.gpusharing.webhook.review.JsonFields.textOrEmpty;

import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.webhook.review.PodView.Container;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Reads the containers of one pod, and what they ask for. */
final class ContainerReader {

    private static final String VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES";

    private static final String MPS = "CUDA_MPS_";

    /** Values by which NVIDIA's container runtime shows no GPU. */
    private static final Set<String> NO_DEVICES = Set.of("", "void", "none");

    private static final int LONGEST_NO_DEVICES = "void".length();
    private static final String LONGER = "…";

    private final JsonParser json;
    private final byte[] document;
    private final Predicate<String> gpuResource;
    private final Predicate<String> claimedResource;
    private boolean asksForClaimed;

    ContainerReader(
            JsonParser json,
            byte[] document,
            Predicate<String> gpuResource,
            Predicate<String> claimedResource) {
        this.json = json;
        this.document = document;
        this.gpuResource = gpuResource;
        this.claimedResource = claimedResource;
    }

    Container read() {
        int begin = begin(json);
        String containerName = "";
        boolean alwaysRestarts = false;
        Map<String, Quantity> limits = Map.of();
        Map<String, Quantity> requests = Map.of();
        boolean privileged = false;
        var variables = new Variables();
        boolean ownSharedMemory = false;
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                switch (name) {
                    case "name" -> containerName = textOrEmpty(json);
                    case "restartPolicy" -> alwaysRestarts = "Always".equals(text(json));
                    case "securityContext" ->
                            privileged =
                                    Boolean.TRUE.equals(
                                            field(json, "privileged", JsonFields::bool));
                    case "env" -> variables.read();
                    case "volumeMounts" -> ownSharedMemory |= mountsSharedMemory();
                    case "resources" -> {
                        if (isObject(json)) {
                            for (String part; (part = nextField(json)) != null; ) {
                                switch (part) {
                                    case "limits" -> {
                                        once(limits.isEmpty(), part);
                                        limits = amounts();
                                    }
                                    case "requests" -> {
                                        once(requests.isEmpty(), part);
                                        requests = amounts();
                                    }
                                    default -> json.skipChildren();
                                }
                            }
                        }
                    }
                    default -> json.skipChildren();
                }
            }
        }
        return new Container(
                containerName,
                alwaysRestarts,
                limits,
                requests,
                privileged,
                variables.setVisibleDevices,
                variables.mps,
                ownSharedMemory,
                sliceFrom(begin, json, document));
    }

    /** Whether an amount was asked of a resource for which the scheduler makes a claim. */
    boolean asksForClaimed() {
        return asksForClaimed;
    }

    /** Amounts of cpu, memory and GPUs, by resource. */
    Map<String, Quantity> amounts() {
        var amounts = new HashMap<String, Quantity>();
        if (isObject(json)) {
            for (String name; (name = nextField(json)) != null; ) {
                String amount = scalar(json);
                if (amount != null && counts(name)) {
                    once(amounts.put(name, quantity(amount)) == null, name);
                }
                if (amount != null && claimedResource.test(name)) {
                    asksForClaimed |= !quantity(amount).isZero();
                }
            }
        }
        return amounts;
    }

    /** Besides GPUs, cpu and memory decide whether the pod is Guaranteed. */
    private boolean counts(String resource) {
        return resource.equals("cpu") || resource.equals("memory") || gpuResource.test(resource);
    }

    private Quantity quantity(String amount) {
        try {
            return Quantity.parse(amount);
        } catch (IllegalArgumentException e) {
            throw new MalformedReviewException(
                    json.streamReadContext().pathAsPointer() + ": " + e.getMessage());
        }
    }

    private boolean mountsSharedMemory() {
        boolean mounts = false;
        if (isList(json)) {
            while (nextEntry(json)) {
                String path = field(json, "mountPath", JsonFields::text);
                mounts |= path != null && Sharing.isSharedMemory(path);
            }
        }
        return mounts;
    }

    /**
     * The variables that matter. Names and values of others are never made into strings: pods have
     * many.
     */
    private final class Variables {

        private boolean setVisibleDevices;
        private @Nullable String mps;

        void read() {
            setVisibleDevices = false;
            mps = null;
            if (isList(json)) {
                while (nextEntry(json)) {
                    readOne();
                }
            }
        }

        /**
         * One whose value comes from elsewhere may ask the container runtime for GPUs as well as
         * one that names some.
         */
        private void readOne() {
            String variable = null;
            boolean hiding = true;
            if (isObject(json)) {
                for (String name; (name = nextField(json)) != null; ) {
                    switch (name) {
                        case "name" -> {
                            once(variable == null, name);
                            if (mps == null && begins(MPS)) {
                                mps = textOrEmpty(json);
                            }
                            variable = upTo(VISIBLE_DEVICES.length());
                        }
                        case "value" -> {
                            // The API server writes the name first: most values need not be read.
                            if (variable == null || variable.equals(VISIBLE_DEVICES)) {
                                hiding &= NO_DEVICES.contains(upTo(LONGEST_NO_DEVICES));
                            }
                        }
                        case "valueFrom" -> {
                            hiding &= !isObject(json);
                            json.skipChildren();
                        }
                        default -> json.skipChildren();
                    }
                }
            }
            setVisibleDevices |= VISIBLE_DEVICES.equals(variable) && !hiding;
        }
    }

    private boolean begins(String prefix) {
        if (json.currentToken() != JsonToken.VALUE_STRING
                || json.getStringLength() < prefix.length()) {
            return false;
        }
        char[] text = json.getStringCharacters();
        int from = json.getStringOffset();
        for (int i = 0; i < prefix.length(); i++) {
            if (text[from + i] != prefix.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** The text if it is so short; else something else, which is not made into a string. */
    private String upTo(int length) {
        return json.currentToken() == JsonToken.VALUE_STRING && json.getStringLength() > length
                ? LONGER
                : textOrEmpty(json);
    }
}
