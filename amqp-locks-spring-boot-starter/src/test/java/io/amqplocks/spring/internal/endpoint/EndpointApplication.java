package io.amqplocks.spring.internal.endpoint;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import io.amqplocks.spring.LocksOnBroker;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application with the endpoint on a port of its own, and an operator with a browser. */
final class EndpointApplication implements AutoCloseable {

  static final String OPENED = "management.endpoint.amqplocks.access=unrestricted";
  private static final String TIMEOUT = "management.endpoint.amqplocks.timeout=";

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  /** An answer. */
  record Answer(int status, String text) {
    DocumentContext json() {
      return JsonPath.parse(text);
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // as JsonPath itself has it
    <T> T read(String path) {
      return json().read(path);
    }
  }

  private final HttpClient browser =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
  private final ConfigurableApplicationContext context;
  private final URI root;

  EndpointApplication(LocksOnBroker onBroker, String... properties) {
    boolean bounded = Arrays.stream(properties).anyMatch(each -> each.startsWith(TIMEOUT));
    String[] all =
        Stream.of(
                Arrays.stream(onBroker.properties()),
                Arrays.stream(properties),
                // A busy broker takes its time.
                bounded ? Stream.<String>of() : Stream.of(TIMEOUT + "30s"),
                Stream.of(
                    "server.port=0",
                    "spring.jmx.enabled=false",
                    "spring.main.banner-mode=off",
                    "management.endpoints.web.exposure.include=amqplocks,health,metrics",
                    "management.endpoint.health.show-details=always"))
            .flatMap(each -> each)
            .map(property -> "--" + property)
            .toArray(String[]::new);
    context = new SpringApplicationBuilder(Application.class).run(all);
    root =
        URI.create(
            "http://localhost:"
                + context.getEnvironment().getProperty("local.server.port")
                + "/actuator/");
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /** What there is under the path, which is written as in a URL. */
  Answer get(String path) {
    return send("GET", path, null);
  }

  Answer post(String path, String body) {
    return send("POST", path, body);
  }

  Answer delete(String path) {
    return send("DELETE", path, null);
  }

  private Answer send(String method, String path, @Nullable String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(root + path))
            .timeout(Duration.ofSeconds(90))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> response = browser.send(request, BodyHandlers.ofString());
      return new Answer(response.statusCode(), response.body());
    } catch (IOException e) {
      throw new IllegalStateException(request.toString(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(request.toString(), e);
    }
  }

  /** A lock's name as it stands in a URL's path, slashes as they are. */
  static String inPath(String name) {
    return Arrays.stream(name.split("/", -1))
        .map(part -> URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20"))
        .collect(Collectors.joining("/"));
  }

  @Override
  public void close() {
    context.close();
  }
}
