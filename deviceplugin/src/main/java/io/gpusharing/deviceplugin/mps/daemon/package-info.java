/**
 * Runs the MPS daemons of a node, one for each GPU that the device plugin wants shared. A program
 * of its own: what the device plugin does, dies of or is replaced by touches no client.
 */
@NullMarked
package io.gpusharing.deviceplugin.mps.daemon;

import org.jspecify.annotations.NullMarked;
