/**
 * What every question over HTTPS has in common. {@link ApiSecurity} and {@link Callers} decide who
 * may ask; {@link Problems} says what went wrong; {@link Page} cuts long answers; {@link
 * ApiDescription} is the OpenAPI document. {@link ReportingAuthority} signs the certificate that
 * all of it is served with.
 */
@NullMarked
package io.gpusharing.timekeeper.web;

import org.jspecify.annotations.NullMarked;
