package io.gpusharing.scheduler;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The walls of the scheduler. */
@AnalyzeClasses(
        packages = "io.gpusharing.scheduler",
        importOptions = ImportOption.DoNotIncludeTests.class)
class WallsTest {

    @ArchTest
    static final ArchRule packagesHaveNoCyclicDependencies =
            slices().matching("io.gpusharing.scheduler.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule placingIsPure =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "io.gpusharing.scheduler.gpus", "io.gpusharing.scheduler.preemption")
                    .should()
                    .dependOnClassesThat(
                            resideInAnyPackage(
                                    "io.fabric8..",
                                    "io.gpusharing.kubernetes..",
                                    "org.springframework..",
                                    "java.net..",
                                    "java.nio.file.."));
}
