/** Which of several replicas does the work that only one needs to do. */
@NullMarked
package io.gpusharing.timekeeper.leadership;

import org.jspecify.annotations.NullMarked;
