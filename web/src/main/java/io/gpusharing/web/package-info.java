/**
 * What the services share of serving HTTPS: certificates made at run time, so that nothing secret
 * is shipped and nothing has to be made by hand, who asks and what the cluster lets them do, limits
 * of request bodies, and what health and metrics say of their parts.
 */
@NullMarked
package io.gpusharing.web;

import org.jspecify.annotations.NullMarked;
