package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.budget.Quote.Stage;
import io.gpusharing.budget.Quote.Work;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplicasTest {

    private static Replicas of(String kind, String spec) {
        return Replicas.of(
                Serialization.unmarshal("kind: %s\nspec: %s".formatted(kind, spec), Map.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Pod         | {}                                      | 1 | 1
                    PodTemplate | {}                                      | 1 | 1
                    Deployment  | {}                                      | 1 | 1
                    Deployment  | {replicas: 3}                           | 3 | 3
                    StatefulSet | {replicas: 0}                           | 0 | 0
                    Job         | {}                                      | 1 | 1
                    Job         | {parallelism: 4}                        | 4 | 4
                    Job         | {completions: 6}                        | 6 | 1
                    Job         | {completions: 6, parallelism: 2}        | 6 | 2
                    Job         | {completions: 2, parallelism: 6}        | 2 | 2
                    Job         | {completions: 6, parallelism: 0}        | 0 | 0
                    CronJob     | {jobTemplate: {spec: {completions: 3}}} | 3 | 1
                    """)
    void aWorkloadMakesAsManyPodsAsItsControllerWould(
            String kind, String spec, int pods, int atOnce) {
        assertThat(of(kind, spec)).isEqualTo(new Replicas(pods, atOnce, null, null));
    }

    private static Stage stage(int pods, int minutes) {
        return new Stage(pods, Duration.ofMinutes(minutes));
    }

    @Test
    void podsOneAfterTheOtherTakeTheirTime() {
        Duration hour = Duration.ofHours(1);

        assertThat(of("Job", "{completions: 6, parallelism: 2}").work(hour).stages())
                .containsExactly(stage(2, 180));
        assertThat(of("Job", "{completions: 5, parallelism: 2}").work(hour).stages())
                .containsExactly(stage(2, 120), stage(1, 60));
        assertThat(of("Job", "{completions: 5, parallelism: 2}").work(null))
                .isEqualTo(new Work(5, 2, List.of()));
        assertThat(of("Deployment", "{replicas: 0}").work(hour))
                .isEqualTo(new Work(0, 0, List.of()));
    }

    @Test
    void nothingRunsLongerThanItMay() {
        Replicas job =
                of(
                        "Job",
                        "{completions: 4, activeDeadlineSeconds: 6000, template: {spec: {activeDeadlineSeconds: 1200}}}");

        assertThat(job.work(null).stages()).containsExactly(stage(1, 80));
        assertThat(job.work(Duration.ofMinutes(10)).stages()).containsExactly(stage(1, 40));
        assertThat(
                        of("Job", "{completions: 5, parallelism: 2, activeDeadlineSeconds: 9000}")
                                .work(Duration.ofHours(1))
                                .stages())
                .containsExactly(stage(2, 120), stage(1, 30));
        assertThat(of("Job", "{completions: 9, activeDeadlineSeconds: 60}").work(null).stages())
                .containsExactly(stage(1, 1));
        assertThat(of("Pod", "{activeDeadlineSeconds: 60}").work(null).stages())
                .containsExactly(stage(1, 1));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    Deployment | {replicas: many}                          | spec.replicas is many
                    Deployment | {replicas: -1}                            | spec.replicas is -1
                    Deployment | {replicas: 1.5}                           | spec.replicas is 1.5
                    Job        | {completions: 3000000000}                 | spec.completions is 3000000000
                    CronJob    | {jobTemplate: {spec: {parallelism: [1]}}} | spec.jobTemplate.spec.parallelism is [1]
                    """)
    void whatIsNoNumberOfPodsIsRefused(String kind, String spec, String problem) {
        assertThatThrownBy(() -> of(kind, spec))
                .hasMessage(problem + "; use a whole number, 0 or more");
    }

    @Test
    void howManyPodsADaemonSetMakesNobodyCanSay() {
        assertThatThrownBy(() -> of("DaemonSet", "{}"))
                .hasMessageContaining("a pod on each node that it selects; use a Pod");
    }
}
