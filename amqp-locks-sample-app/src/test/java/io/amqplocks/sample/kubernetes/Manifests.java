package io.amqplocks.sample.kubernetes;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.kubernetes.client.openapi.models.V1Container;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1PersistentVolumeClaim;
import io.kubernetes.client.openapi.models.V1PodSpec;
import io.kubernetes.client.openapi.models.V1Service;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The documents in {@code kubernetes/}, and the check that they are what the API takes. */
final class Manifests {

  private static final Path FOLDER = Path.of("kubernetes");

  private Manifests() {}

  /** All documents of all files. */
  static List<JsonObject> all() {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.sorted().flatMap(file -> read(file).stream()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The documents of one file. A key that is there twice is an error. */
  static List<JsonObject> read(Path file) {
    LoaderOptions strict = new LoaderOptions();
    strict.setAllowDuplicateKeys(false);
    List<JsonObject> documents = new ArrayList<>();
    try {
      new Yaml(new SafeConstructor(strict))
          .loadAll(Files.readString(file))
          .forEach(document -> documents.add(new Gson().toJsonTree(document).getAsJsonObject()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return documents;
  }

  /**
   * Checks a document against the type of the API. The type refuses fields that it does not have,
   * and required ones that are missing, at any depth. It is lenient about a number in place of text
   * or the other way round, as the API is not; so the document must also be the same when the type
   * is written down again.
   *
   * @throws RuntimeException if it does not fit, with the reason
   */
  static void check(JsonObject document) {
    String text = document.toString();
    JsonElement again = JsonParser.parseString(again(kind(document), text));
    if (!withoutEmpty(again).equals(withoutEmpty(document))) {
      throw new IllegalArgumentException(
          "The API takes this for something else:\n%s\n%s".formatted(text, again));
    }
  }

  /** The type has lists and maps that the document does not mention. */
  private static JsonElement withoutEmpty(JsonElement element) {
    if (element.isJsonArray()) {
      JsonArray array = new JsonArray();
      element.getAsJsonArray().forEach(each -> array.add(withoutEmpty(each)));
      return array;
    }
    if (!element.isJsonObject()) {
      return element;
    }
    JsonObject object = new JsonObject();
    element
        .getAsJsonObject()
        .asMap()
        .forEach(
            (field, value) -> {
              JsonElement content = withoutEmpty(value);
              if (!content.equals(new JsonArray()) && !content.equals(new JsonObject())) {
                object.add(field, content);
              }
            });
    return object;
  }

  private static String again(String kind, String text) {
    try {
      return switch (kind) {
        case "apps/v1 Deployment" -> V1Deployment.fromJson(text).toJson();
        case "v1 Service" -> V1Service.fromJson(text).toJson();
        case "v1 PersistentVolumeClaim" -> V1PersistentVolumeClaim.fromJson(text).toJson();
        default -> throw new IllegalArgumentException("Not checked here: " + kind);
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String kind(JsonObject document) {
    return document.get("apiVersion").getAsString() + " " + document.get("kind").getAsString();
  }

  /** All Deployments. */
  static List<V1Deployment> deployments() {
    return all().stream()
        .filter(document -> kind(document).endsWith(" Deployment"))
        .map(Manifests::deployment)
        .toList();
  }

  /** The Deployment of that name. */
  static V1Deployment deployment(String name) {
    return deployments().stream()
        .filter(deployment -> name(deployment).equals(name))
        .findAny()
        .orElseThrow();
  }

  private static V1Deployment deployment(JsonObject document) {
    try {
      return V1Deployment.fromJson(document.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The only Service. */
  static V1Service service() {
    List<JsonObject> services =
        all().stream().filter(document -> kind(document).equals("v1 Service")).toList();
    try {
      return V1Service.fromJson(services.get(0).toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String name(V1Deployment deployment) {
    return Objects.requireNonNull(Objects.requireNonNull(deployment.getMetadata()).getName());
  }

  static V1PodSpec pod(V1Deployment deployment) {
    return Objects.requireNonNull(
        Objects.requireNonNull(deployment.getSpec()).getTemplate().getSpec());
  }

  /** The only container of its pods. */
  static V1Container container(V1Deployment deployment) {
    List<V1Container> containers = pod(deployment).getContainers();
    if (containers.size() != 1) {
      throw new IllegalArgumentException(name(deployment) + " has not one container");
    }
    return containers.get(0);
  }
}
