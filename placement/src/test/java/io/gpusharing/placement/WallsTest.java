package io.gpusharing.placement;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import io.gpusharing.testing.PureModule;
import org.junit.jupiter.api.Test;

/** Placing knows what is asked for and what is written down of it, and nothing else. */
class WallsTest {

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(new DoNotIncludeTests())
                    .importPackages("io.gpusharing.placement");

    private static final PureModule MODULE = new PureModule("io.gpusharing.placement..");

    @Test
    void itDependsOnTheJavaLibraryAndTheVocabularyOnly() {
        MODULE.knowsOnly(
                        "io.gpusharing",
                        "io.gpusharing.request..",
                        "io.gpusharing.sharing..",
                        "io.gpusharing.wire..")
                .check(CLASSES);
    }

    @Test
    void itReadsNoClock() {
        MODULE.readsNoClock().check(CLASSES);
    }
}
