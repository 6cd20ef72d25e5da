package io.gpusharing.wire;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import io.gpusharing.testing.PureModule;
import org.junit.jupiter.api.Test;

/** What passes between programs knows the words of requests and nothing else. */
class WallsTest {

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(new DoNotIncludeTests())
                    .importPackages("io.gpusharing.wire");

    private static final PureModule MODULE = new PureModule("io.gpusharing.wire..");

    @Test
    void itDependsOnTheJavaLibraryAndTheVocabularyOnly() {
        MODULE.knowsOnly("io.gpusharing", "io.gpusharing.request..", "io.gpusharing.sharing..")
                .check(CLASSES);
    }

    @Test
    void itReadsNoClock() {
        MODULE.readsNoClock().check(CLASSES);
    }
}
