/** What people and programs may ask over HTTPS. */
@NullMarked
package io.gpusharing.timekeeper.api;

import org.jspecify.annotations.NullMarked;
