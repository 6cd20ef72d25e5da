package io.gpusharing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import io.gpusharing.testing.PureModule;
import org.junit.jupiter.api.Test;

/** This module is pure: values in, values out. Time, if it matters, is an argument. */
class WallsTest {

    private static final PureModule MODULE =
            new PureModule(
                    "io.gpusharing.request..", "io.gpusharing.budget..", "io.gpusharing.sharing..");

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(new DoNotIncludeTests())
                    .importPackages("io.gpusharing");

    @Test
    void commonDependsOnTheJavaLibraryAndItselfOnly() {
        MODULE.knowsOnly("io.gpusharing").check(CLASSES);
    }

    @Test
    void commonReadsNoClock() {
        MODULE.readsNoClock().check(CLASSES);
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
