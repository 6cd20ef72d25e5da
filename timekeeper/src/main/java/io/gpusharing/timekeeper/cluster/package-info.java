/** What the API server reports: pods and nodes, as a resumable feed and as the present view. */
@NullMarked
package io.gpusharing.timekeeper.cluster;

import org.jspecify.annotations.NullMarked;
