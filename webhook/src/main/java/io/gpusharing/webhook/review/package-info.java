/** What is read of an AdmissionReview, straight from its bytes. */
@NullMarked
package io.gpusharing.webhook.review;

import org.jspecify.annotations.NullMarked;
