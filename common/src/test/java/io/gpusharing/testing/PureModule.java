package io.gpusharing.testing;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.util.Arrays;
import java.util.Date;
import java.util.stream.Stream;

/**
 * What a module that is pure may do: values in, values out. Time, if it matters, is an argument.
 */
public final class PureModule {

    private static final String[] LIBRARY = {
        "java.lang",
        "java.lang.annotation",
        "java.lang.invoke",
        "java.lang.runtime",
        "java.math",
        "java.time..",
        "java.util",
        "java.util.function",
        "java.util.stream",
        "com.fasterxml.jackson.annotation",
        "org.jspecify.annotations"
    };

    private final String[] packages;

    /**
     * @param packages its own, as ArchUnit writes them
     */
    public PureModule(String... packages) {
        this.packages = packages.clone();
    }

    /**
     * It depends on itself, on the Java library and on what else it is to know.
     *
     * @param others packages
     */
    public ArchRule knowsOnly(String... others) {
        String[] known =
                Stream.of(packages, others, LIBRARY).flatMap(Arrays::stream).toArray(String[]::new);
        return classes()
                .that()
                .resideInAnyPackage(packages)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(known)
                .because("no Spring, no HTTP, no Kubernetes client and no I/O belong here");
    }

    /** No answer depends on when it is asked for. */
    public ArchRule readsNoClock() {
        return noClasses()
                .that()
                .resideInAnyPackage(packages)
                .should()
                .dependOnClassesThat(assignableTo(Clock.class))
                .orShould()
                .callMethodWhere(target(name("now")))
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callConstructor(Date.class)
                .because("an answer depends on the instant it is asked about, not on when");
    }
}
