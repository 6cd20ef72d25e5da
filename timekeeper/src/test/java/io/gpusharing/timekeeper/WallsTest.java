package io.gpusharing.timekeeper;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Instant;

@AnalyzeClasses(packages = "io.gpusharing.timekeeper", importOptions = DoNotIncludeTests.class)
class WallsTest {

    @ArchTest
    static final ArchRule meteringIsPure =
            noClasses()
                    .that()
                    .resideInAPackage("..metering..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "org.springframework..",
                            "io.fabric8..",
                            "java.sql..",
                            "..ledger..",
                            "..cluster..");

    @ArchTest
    static final ArchRule theLedgerKnowsNothingOfBudgetsAndPeople =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.timekeeper.ledger..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "io.gpusharing.timekeeper.budget..",
                            "io.gpusharing.timekeeper.api..",
                            "io.gpusharing.timekeeper.reclaim..",
                            "io.gpusharing.timekeeper.usage..",
                            "io.fabric8..");

    @ArchTest
    static final ArchRule budgetsKnowNothingOfReclaimAndReports =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.timekeeper.budget..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "io.gpusharing.timekeeper.api..",
                            "io.gpusharing.timekeeper.reclaim..",
                            "io.gpusharing.timekeeper.usage..");

    @ArchTest
    static final ArchRule nobodyReadsTheClockPastTheOneThatIsInjected =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "io.gpusharing.timekeeper.metering..",
                            "io.gpusharing.timekeeper.ledger..",
                            "io.gpusharing.timekeeper.budget..",
                            "io.gpusharing.timekeeper.api..",
                            "io.gpusharing.timekeeper.tls..")
                    .should()
                    .callMethod(Instant.class, "now")
                    .orShould()
                    .callMethod(System.class, "currentTimeMillis");

    @ArchTest
    static final ArchRule theRecountIsAStrangerToMetering =
            noClasses()
                    .that()
                    .resideInAPackage("io.gpusharing.timekeeper.recount..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "io.gpusharing.request..",
                            "io.gpusharing.budget..",
                            "io.gpusharing.timekeeper.metering..",
                            "io.gpusharing.timekeeper.ledger..",
                            "io.gpusharing.timekeeper.budget..");
}
