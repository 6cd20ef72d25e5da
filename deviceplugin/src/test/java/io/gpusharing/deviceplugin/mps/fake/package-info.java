/** MPS without a GPU: daemon, control program and clients, as they were seen to behave. */
@NullMarked
package io.gpusharing.deviceplugin.mps.fake;

import org.jspecify.annotations.NullMarked;
