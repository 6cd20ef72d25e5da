/**
 * The decision about a new pod: {@link PodAdmission} refuses or completes it, {@link
 * CompletedRequest} is what it asks for once defaults are added, {@link PodStamp} what is written
 * down of it.
 */
@NullMarked
package io.gpusharing.webhook.pod;

import org.jspecify.annotations.NullMarked;
