package io.amqplocks.sample.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.kubernetes.client.openapi.models.V1Container;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1DeploymentSpec;
import io.kubernetes.client.openapi.models.V1HTTPGetAction;
import io.kubernetes.client.openapi.models.V1Lifecycle;
import io.kubernetes.client.openapi.models.V1Probe;
import io.kubernetes.client.openapi.models.V1SecurityContext;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1ServicePort;
import io.kubernetes.client.openapi.models.V1ServiceSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The manifests fit the API, each other, and the application that they start. */
class KubernetesManifestTest {

  private static final String LIVENESS = "/actuator/health/liveness";
  private static final String READINESS = "/actuator/health/readiness";

  private final List<V1Deployment> deployments = Manifests.deployments();

  @Test
  void areWhatTheApiTakes() {
    assertThat(Manifests.all()).hasSize(5);
    Manifests.all().forEach(Manifests::check);
    assertThat(deployments)
        .extracting(Manifests::name)
        .containsExactlyInAnyOrder("images-receiver", "images-worker", "nightly-report");
  }

  /** Or the test above would prove nothing. */
  @Test
  void whatTheApiDoesNotTakeIsRefused() {
    refused("\"livenessProbe\"", "\"livenesProbe\"", "`livenesProbe`");
    refused(",\"port\":\"http\"", "", "`port`");
    refused("\"name\":\"worker\",", "", "`name`");
    refused("\"replicas\":3", "\"replicas\":\"three\"", "three");
    refused("\"512Mi\"", "\"512 Mib\"", "512 ");
    refused("\"value\":\"/images\"", "\"value\":8080", "something else");
    refused("\"runAsNonRoot\":true", "\"runAsNonRoot\":\"yes\"", "something else");
    refused("\"apps/v1\"", "\"apps/v1beta1\"", "apps/v1beta1");
  }

  private static void refused(String right, String wrong, String why) {
    String worker =
        Manifests.all().stream()
            .map(JsonObject::toString)
            .filter(document -> document.contains("\"image\"") && document.contains("\"worker\""))
            .findAny()
            .orElseThrow();
    assertThat(worker).contains(right);
    JsonObject changed = JsonParser.parseString(worker.replace(right, wrong)).getAsJsonObject();
    assertThatThrownBy(() -> Manifests.check(changed)).hasMessageContaining(why);
  }

  @Test
  void eachDeploymentSelectsItsPodsAndNoOthers() {
    for (V1Deployment deployment : deployments) {
      Map<String, String> selector =
          Objects.requireNonNull(spec(deployment).getSelector().getMatchLabels());
      assertThat(deployments)
          .filteredOn(other -> labels(other).entrySet().containsAll(selector.entrySet()))
          .containsExactly(deployment);
    }
  }

  @Test
  void theServiceFindsTheReceiverAndTheOthersFindTheService() {
    V1Service service = Manifests.service();
    V1ServiceSpec spec = Objects.requireNonNull(service.getSpec());
    V1Deployment receiver = Manifests.deployment("images-receiver");
    assertThat(labels(receiver)).containsAllEntriesOf(Objects.requireNonNull(spec.getSelector()));
    V1ServicePort port = Objects.requireNonNull(spec.getPorts()).get(0);
    assertThat(port.getTargetPort()).hasToString(portName(receiver));
    String address = "http://" + Objects.requireNonNull(service.getMetadata()).getName();
    assertThat(port.getPort()).isEqualTo(80);
    assertThat(settings("images-worker").get("sample.worker.receiver")).isEqualTo(address);
    assertThat(settings("nightly-report").get("sample.report.receiver")).isEqualTo(address);
  }

  /** That the application answers there is what KubernetesShutdownTest shows. */
  @Test
  void probesAskForTheStateThatTheyAreMeantFor() {
    for (V1Deployment deployment : deployments) {
      V1Container container = Manifests.container(deployment);
      assertThat(path(deployment, container.getStartupProbe())).isEqualTo(LIVENESS);
      assertThat(path(deployment, container.getLivenessProbe())).isEqualTo(LIVENESS);
      assertThat(path(deployment, container.getReadinessProbe())).isEqualTo(READINESS);
      ContainerSettings settings = settings(Manifests.name(deployment));
      assertThat(settings.get("management.endpoint.health.group.liveness.include")).isNull();
      assertThat(settings.get("server.address")).isEqualTo("0.0.0.0");
      assertThat(settings.get("server.port"))
          .isEqualTo(
              String.valueOf(
                  Objects.requireNonNull(container.getPorts()).get(0).getContainerPort()));
    }
  }

  /** Nothing asks who calls it. */
  @Test
  void theLocksEndpointOnlyShows() {
    for (V1Deployment deployment : deployments) {
      ContainerSettings settings = settings(Manifests.name(deployment));
      assertThat(settings.get("management.endpoint.amqplocks.access")).isEqualTo("read-only");
      assertThat(settings.get("management.endpoint.health.show-details")).isEqualTo("never");
    }
  }

  @Test
  void thePodIsKilledOnlyAfterAllThatAShutdownMayTake() {
    for (V1Deployment deployment : deployments) {
      Duration sleep = sleep(Manifests.container(deployment));
      Duration needed = settings(Manifests.name(deployment)).longestShutdown().plus(sleep);
      assertThat(Pod.gracePeriod(deployment)).isGreaterThan(needed);
    }
    assertThat(sleep(Manifests.container(Manifests.deployment("images-receiver")))).isPositive();
  }

  /** A shell in between would keep the SIGTERM to itself. */
  @Test
  void javaIsTheProcessThatGetsTheSignal() {
    for (V1Deployment deployment : deployments) {
      assertThat(Manifests.container(deployment).getCommand()).isNullOrEmpty();
      assertThat(Manifests.container(deployment).getArgs()).isNullOrEmpty();
    }
  }

  @Test
  void podsHaveFewRights() {
    for (V1Deployment deployment : deployments) {
      assertThat(Manifests.pod(deployment).getAutomountServiceAccountToken()).isFalse();
      assertThat(Objects.requireNonNull(Manifests.pod(deployment).getSecurityContext()))
          .matches(security -> Boolean.TRUE.equals(security.getRunAsNonRoot()));
      V1SecurityContext security =
          Objects.requireNonNull(Manifests.container(deployment).getSecurityContext());
      assertThat(security.getAllowPrivilegeEscalation()).isFalse();
      assertThat(security.getReadOnlyRootFilesystem()).isTrue();
    }
  }

  private static V1DeploymentSpec spec(V1Deployment deployment) {
    return Objects.requireNonNull(deployment.getSpec());
  }

  private static Map<String, String> labels(V1Deployment deployment) {
    return Objects.requireNonNull(
        Objects.requireNonNull(spec(deployment).getTemplate().getMetadata()).getLabels());
  }

  private static String portName(V1Deployment deployment) {
    return Objects.requireNonNull(
        Objects.requireNonNull(Manifests.container(deployment).getPorts()).get(0).getName());
  }

  /** The path that the probe asks for, at the port that the container names. */
  private static String path(V1Deployment deployment, @Nullable V1Probe probe) {
    V1HTTPGetAction request = Objects.requireNonNull(Objects.requireNonNull(probe).getHttpGet());
    assertThat(request.getPort()).hasToString(portName(deployment));
    return Objects.requireNonNull(request.getPath());
  }

  private static Duration sleep(V1Container container) {
    V1Lifecycle lifecycle = container.getLifecycle();
    return lifecycle == null || lifecycle.getPreStop() == null
        ? Duration.ZERO
        : Duration.ofSeconds(
            Objects.requireNonNull(lifecycle.getPreStop().getSleep()).getSeconds());
  }

  private static ContainerSettings settings(String deployment) {
    Map<String, String> secret =
        Map.of("host", "rabbitmq", "port", "5672", "username", "u", "password", "p");
    return ContainerSettings.inPod(
        Pod.variables(Manifests.container(Manifests.deployment(deployment)), "a-pod", secret));
  }
}
