/** What several tests of the scheduler stand on. */
@NullMarked
package io.gpusharing.scheduler.testing;

import org.jspecify.annotations.NullMarked;
