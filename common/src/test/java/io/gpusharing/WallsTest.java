package io.gpusharing;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import java.time.Clock;
import java.util.Date;
import org.junit.jupiter.api.Test;

/** This module is pure: values in, values out. Time, if it matters, is an argument. */
class WallsTest {

    private static final String[] VOCABULARY = {
        "io.gpusharing.request..", "io.gpusharing.budget..", "io.gpusharing.sharing.."
    };

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(new DoNotIncludeTests())
                    .importPackages("io.gpusharing");

    @Test
    void commonDependsOnTheJavaLibraryAndItselfOnly() {
        classes()
                .that()
                .resideInAnyPackage(VOCABULARY)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "io.gpusharing",
                        "io.gpusharing.request..",
                        "io.gpusharing.budget..",
                        "io.gpusharing.sharing..",
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
                        "org.jspecify.annotations")
                .because("no Spring, no HTTP, no Kubernetes client and no I/O belong here")
                .check(CLASSES);
    }

    @Test
    void commonReadsNoClock() {
        noClasses()
                .that()
                .resideInAnyPackage(VOCABULARY)
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
                .because("an answer depends on the instant it is asked about, not on when")
                .check(CLASSES);
    }

    @Test
    void requestsDoNotDependOnBudgets() {
        noClasses()
                .that()
                .resideInAPackage("io.gpusharing.request..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.gpusharing.budget..")
                .check(CLASSES);
    }

    @Test
    void packagesHaveNoCyclicDependencies() {
        slices().matching("io.gpusharing.(**)").should().beFreeOfCycles().check(CLASSES);
    }
}
