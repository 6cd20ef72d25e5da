/**
 * The REST interface under {@code /api/v1}: what people and programs may ask over HTTPS. {@link
 * ApiSecurity} and {@link Callers} decide who may; {@link Problems} tells what went wrong; {@link
 * ApiDescription} is the OpenAPI document. Usage reports come in through the package {@code usage}.
 */
@NullMarked
package io.gpusharing.timekeeper.api;

import org.jspecify.annotations.NullMarked;
