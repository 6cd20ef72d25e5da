package io.gpusharing.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Feeds a parameterized test with the fixtures that a pattern names. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(YamlFixtures.Provider.class)
public @interface YamlFixtures {

    /** Folder and file name with {@code *}, for instance {@code vcuda/invalid-*}. */
    String value();

    /** Reads the fixtures. */
    final class Provider implements ArgumentsProvider, AnnotationConsumer<YamlFixtures> {

        private String pattern = "";

        @Override
        public void accept(YamlFixtures annotation) {
            pattern = annotation.value();
        }

        @Override
        public Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            return Fixture.matching(pattern).stream().map(Arguments::of);
        }
    }
}
