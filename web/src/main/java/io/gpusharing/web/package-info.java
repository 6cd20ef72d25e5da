/**
 * What the services share of serving HTTPS: certificates made at run time, so that nothing secret
 * is shipped and nothing has to be made by hand, who asks and what the cluster lets them do, limits
 * of request bodies. And of working in the background: {@link LeaderTask}, the election of the
 * replica that does what only one needs to do, and what health and metrics say of each part.
 */
@NullMarked
package io.gpusharing.web;

import org.jspecify.annotations.NullMarked;
