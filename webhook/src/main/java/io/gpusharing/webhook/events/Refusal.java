package io.gpusharing.webhook.events;

import io.gpusharing.webhook.review.PodView.Owner;

/**
 * A pod that its controller could not create.
 *
 * @param namespace where
 * @param owner the controller's object
 * @param message why
 */
public record Refusal(String namespace, Owner owner, String message) {}
