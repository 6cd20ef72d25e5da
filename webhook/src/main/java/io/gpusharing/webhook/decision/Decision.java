package io.gpusharing.webhook.decision;

import io.gpusharing.request.Verdict.Illegal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is said to one review. Exactly one of the three. */
public sealed interface Decision {

    /** A word for metrics and audit logs. */
    default String word() {
        return getClass().getSimpleName();
    }

    /** Not ours to judge: allowed as it is. */
    record Untouched() implements Decision {}

    /**
     * Allowed.
     *
     * @param patch what we add; null for templates, which are only judged
     * @param warnings shown to who asks
     * @param audit written into the audit log
     */
    record Allowed(@Nullable ObjectPatch patch, List<String> warnings, Map<String, String> audit)
            implements Decision {}

    /**
     * Refused.
     *
     * @param code 422 if the request itself is illegal, 403 if the site does not allow it
     * @param findings everything that is wrong, at least one
     */
    record Refused(int code, List<Finding> findings) implements Decision {

        /** Says the request itself is illegal. */
        public static final int INVALID = 422;

        /** Says the site does not allow it. */
        public static final int FORBIDDEN = 403;

        /** The request itself is illegal: every violation at once, so that one edit mends it. */
        public static Refused invalid(Illegal illegal) {
            return new Refused(
                    INVALID,
                    illegal.violations().stream()
                            .map(violation ->
                                    new Finding(violation.rule().name(), violation.message()))
                            .toList());
        }

        /** What we cannot read or judge is not allowed because of that. */
        public static Refused unreadable(String why) {
            return new Refused(
                    INVALID,
                    List.of(
                            new Finding(
                                    "UNREADABLE",
                                    "GPUSharing cannot read this object, and admits no GPUs unread: "
                                            + why)));
        }

        /** All findings; with more than one, each has a number. */
        public String message() {
            if (findings.size() == 1) {
                return findings.getFirst().message();
            }
            var message = new StringBuilder();
            message.append(findings.size()).append(" problems:");
            for (int i = 0; i < findings.size(); i++) {
                message.append(i == 0 ? " (" : "; (")
                        .append(i + 1)
                        .append(") ")
                        .append(findings.get(i).message());
            }
            return message.toString();
        }
    }
}
