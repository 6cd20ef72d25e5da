/**
 * A CUDA program for pods of tests on a real GPU: it says what it sees of the GPU, computes with a
 * result that is known, and keeps it busy and takes its memory as it is told. It needs the driver's
 * own library and nothing of a CUDA toolkit.
 */
@NullMarked
package io.gpusharing.e2e.cuda;

import org.jspecify.annotations.NullMarked;
