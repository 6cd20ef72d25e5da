package io.gpusharing.deviceplugin.mps;

import java.util.function.Function;

/** What a daemon answered to a command. */
public sealed interface Answer<T> {

    /** It did what it was told. */
    record Told<T>(T value) implements Answer<T> {}

    /**
     * It did not, or nobody knows.
     *
     * @param sentence what failed, on what, and what it said
     */
    record Failed<T>(Failure failure, String sentence) implements Answer<T> {}

    /** In which way a command fails. */
    enum Failure {
        /** The control program cannot be started. */
        NoProgram,
        /** There is no daemon. */
        NoDaemon,
        /** No answer came in time. */
        Hanging,
        /** The program ended by an error or a signal before it had answered. */
        Died,
        /** The daemon says that it must not. */
        Refused,
        /** The answer is none that we know. */
        Nonsense
    }

    /** What is made of what it told; or why it told nothing. */
    default <R> Answer<R> then(Function<T, Answer<R>> next) {
        return switch (this) {
            case Told<T>(T value) -> next.apply(value);
            case Failed<T>(Failure failure, String sentence) -> new Failed<>(failure, sentence);
        };
    }
}
