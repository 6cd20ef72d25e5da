package io.gpusharing.timekeeper;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.fabric8.kubernetes.client.CustomResource;
import java.time.Instant;

@AnalyzeClasses(
        packages = "io.gpusharing.timekeeper",
        importOptions = {DoNotIncludeTests.class, WallsTest.Written.class})
class WallsTest {

    /** Not what Spring generates beside our classes when the jar is built. */
    static final class Written implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("__");
        }
    }

    private static final String ROOT = "io.gpusharing.timekeeper.";

    /**
     * Each feature with those on which it may depend. A dependency that is not named here fails the
     * build.
     */
    @ArchTest
    static final ArchRule aFeatureDependsOnNamedFeaturesOnly =
            layeredArchitecture()
                    .consideringOnlyDependenciesInAnyPackage("io.gpusharing.timekeeper..")
                    .layer("application")
                    .definedBy("io.gpusharing.timekeeper")
                    .layer("allocation")
                    .definedBy(ROOT + "allocation..")
                    .layer("database")
                    .definedBy(ROOT + "database..")
                    .layer("leader")
                    .definedBy(ROOT + "leader..")
                    .layer("web")
                    .definedBy(ROOT + "web..")
                    .layer("cluster")
                    .definedBy(ROOT + "cluster..")
                    .layer("ledger")
                    .definedBy(ROOT + "ledger..")
                    .layer("budget")
                    .definedBy(ROOT + "budget..")
                    .layer("receipt")
                    .definedBy(ROOT + "receipt..")
                    .layer("explanation")
                    .definedBy(ROOT + "explanation..")
                    .layer("statement")
                    .definedBy(ROOT + "statement..")
                    .layer("usage")
                    .definedBy(ROOT + "usage..")
                    .layer("audit")
                    .definedBy(ROOT + "audit..")
                    .layer("provider")
                    .definedBy(ROOT + "provider..")
                    .layer("injection")
                    .definedBy(ROOT + "injection..")
                    .layer("aggregated")
                    .definedBy(ROOT + "aggregated..")
                    .whereLayer("allocation")
                    .mayNotAccessAnyLayer()
                    .whereLayer("database")
                    .mayNotAccessAnyLayer()
                    .whereLayer("leader")
                    .mayNotAccessAnyLayer()
                    .whereLayer("web")
                    .mayNotAccessAnyLayer()
                    .whereLayer("cluster")
                    .mayOnlyAccessLayers("allocation")
                    .whereLayer("ledger")
                    .mayOnlyAccessLayers("allocation", "cluster", "web", "database")
                    .whereLayer("budget")
                    .mayOnlyAccessLayers("allocation", "ledger", "cluster", "web", "database")
                    .whereLayer("receipt")
                    .mayOnlyAccessLayers("allocation", "budget", "cluster")
                    .whereLayer("explanation")
                    .mayNotAccessAnyLayer()
                    .whereLayer("statement")
                    .mayOnlyAccessLayers(
                            "allocation",
                            "ledger",
                            "budget",
                            "receipt",
                            "explanation",
                            "cluster",
                            "web",
                            "database")
                    .whereLayer("usage")
                    .mayOnlyAccessLayers(
                            "allocation",
                            "ledger",
                            "budget",
                            "statement",
                            "cluster",
                            "web",
                            "database")
                    .whereLayer("audit")
                    .mayOnlyAccessLayers(
                            "allocation", "ledger", "budget", "cluster", "web", "database")
                    .whereLayer("provider")
                    .mayOnlyAccessLayers(
                            "allocation",
                            "ledger",
                            "budget",
                            "receipt",
                            "cluster",
                            "database",
                            "usage")
                    .whereLayer("injection")
                    .mayOnlyAccessLayers("cluster")
                    .whereLayer("aggregated")
                    .mayOnlyAccessLayers("audit", "budget", "ledger", "statement", "usage", "web");

    @ArchTest
    static final ArchRule packagesHaveNoCyclicDependencies =
            slices().matching(ROOT + "(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule arithmeticIsPure =
            noClasses()
                    .that()
                    .resideInAnyPackage(ROOT + "allocation", ROOT + "budget.account")
                    .should()
                    .dependOnClassesThat(
                            resideInAnyPackage(
                                            "org.springframework..",
                                            "io.fabric8.kubernetes.client..",
                                            "java.sql..")
                                    // The type of an object, without a client.
                                    .and(not(type(CustomResource.class))));

    @ArchTest
    static final ArchRule theLedgerDependsOnNeitherBudgetsNorTheRestApi =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            ROOT + "ledger", ROOT + "ledger.posting", ROOT + "ledger.store")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(ROOT + "web..", "io.fabric8..");

    @ArchTest
    static final ArchRule onlyTheInjectedClockIsRead =
            noClasses()
                    .that()
                    .resideOutsideOfPackage(ROOT + "database..")
                    .should()
                    .callMethod(Instant.class, "now")
                    .orShould()
                    .callMethod(System.class, "currentTimeMillis");
}
