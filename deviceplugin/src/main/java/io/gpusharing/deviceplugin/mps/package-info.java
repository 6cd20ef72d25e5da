/**
 * Sharing a GPU by NVIDIA's Multi-Process Service (MPS), version 2: pods that trust each other run
 * side by side, within limits that a program can lift. Each shared GPU has a daemon of its own, in
 * a DaemonSet of its own; what this program wants of it stands in a file, what it asks it asks by
 * NVIDIA's control program.
 */
@NullMarked
package io.gpusharing.deviceplugin.mps;

import org.jspecify.annotations.NullMarked;
