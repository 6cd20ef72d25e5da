/**
 * What the services share of serving HTTPS: certificates made at run time, so that nothing secret
 * is shipped and nothing has to be made by hand, who asks and what the cluster lets them do, and
 * limits of request bodies.
 */
@NullMarked
package io.gpusharing.web;

import org.jspecify.annotations.NullMarked;
