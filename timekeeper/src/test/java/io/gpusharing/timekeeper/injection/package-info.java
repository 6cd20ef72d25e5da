@org.jspecify.annotations.NullMarked
package io.gpusharing.timekeeper.injection;
