/** What is done again and again without being asked, and whether it goes well. */
@NullMarked
package io.gpusharing.scheduler.rounds;

import org.jspecify.annotations.NullMarked;
