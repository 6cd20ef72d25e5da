/**
 * What a real API server and a real kubelet write of a pod, recorded: every version of pods that
 * live through each kind of begin, middle and end. {@code make record} runs it; the recordings are
 * fixtures for everything that reads pods.
 */
@NullMarked
package io.gpusharing.e2e.recording;

import org.jspecify.annotations.NullMarked;
