package io.gpusharing.timekeeper.database;

import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Converter;
import org.jspecify.annotations.Nullable;

/** The same for texts of entities as {@link ClusterStatement#storable} for those of statements. */
@Converter(autoApply = true)
class StorableText implements AttributeConverter<@Nullable String, @Nullable String> {

    @Override
    public @Nullable String convertToDatabaseColumn(@Nullable String text) {
        return text == null ? null : ClusterStatement.storable(text);
    }

    @Override
    public @Nullable String convertToEntityAttribute(@Nullable String text) {
        return text;
    }
}
