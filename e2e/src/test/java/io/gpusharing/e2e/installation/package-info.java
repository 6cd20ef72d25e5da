@NullMarked
package io.gpusharing.e2e.installation;

import org.jspecify.annotations.NullMarked;
