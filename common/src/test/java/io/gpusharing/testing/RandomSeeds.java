package io.gpusharing.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * Feeds a parameterized test with random seeds, other ones in each run, and prints them; {@code
 * -Dseed=N} runs that one alone, {@code -Dseeds.factor=20} twenty times as many. A seed that failed
 * becomes a test of its own.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(RandomSeeds.Provider.class)
public @interface RandomSeeds {

    /** How many, in a build. */
    int value();

    /** Draws the seeds. */
    final class Provider implements ArgumentsProvider, AnnotationConsumer<RandomSeeds> {

        private int count;

        @Override
        public void accept(RandomSeeds annotation) {
            count = annotation.value();
        }

        @Override
        public Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            Long only = Long.getLong("seed");
            List<Long> seeds =
                    only != null
                            ? List.of(only)
                            : new Random()
                                    .longs((long) count * Integer.getInteger("seeds.factor", 1))
                                    .boxed()
                                    .toList();
            System.out.printf(
                    "seeds of %s.%s: %s%n",
                    context.getRequiredTestClass().getSimpleName(),
                    context.getRequiredTestMethod().getName(),
                    seeds);
            return seeds.stream().map(Arguments::of);
        }
    }
}
