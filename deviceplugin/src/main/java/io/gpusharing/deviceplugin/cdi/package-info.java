/**
 * What a container finds when it starts: device nodes, the driver's libraries, its environment.
 * Handed to the container runtime as a CDI specification (Container Device Interface, a CNCF
 * project), which beats what the pod's own environment says.
 */
@NullMarked
package io.gpusharing.deviceplugin.cdi;

import org.jspecify.annotations.NullMarked;
