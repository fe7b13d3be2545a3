package example;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * A JUnit extension, to be copied into your suite: it starts {@code hashrange testing} once, and gives every test that
 * has a parameter of type {@link Database} a namespace of its own. It needs hashrange (pip install hashrange).
 */
public final class Hashrange implements ParameterResolver {
    private static final Namespace STORE = Namespace.create(Hashrange.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Database.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        // JUnit closes what is in a store when its context ends: the server with the run, the namespace with its test.
        var server = context.getRoot().getStore(STORE).getOrComputeIfAbsent(Server.class, key -> new Server(), Server.class);
        return context.getStore(STORE).getOrComputeIfAbsent(Database.class, key -> new Database(server), Database.class);
    }

    /** The server: a process that ends with this one. */
    static final class Server implements ExtensionContext.Store.CloseableResource {
        private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        private final Process process;
        final URI endpoint;

        Server() {
            var command = System.getenv().getOrDefault("HASHRANGE_COMMAND", "hashrange");
            try {
                process = new ProcessBuilder(command, "testing").redirectError(ProcessBuilder.Redirect.INHERIT).start();
                var line = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
                endpoint = URI.create(value(line, "endpoint_url"));
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        String ask(String method, String path, String json) {
            var request = HttpRequest.newBuilder(endpoint.resolve(path)).method(method, BodyPublishers.ofString(json)).build();
            try {
                var answer = http.send(request, BodyHandlers.ofString());
                if (answer.statusCode() != 200) {
                    throw new IllegalStateException(method + " " + path + ": " + answer.body());
                }
                return answer.body();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(error);
            }
        }

        @Override
        public void close() throws IOException, InterruptedException {
            process.getOutputStream().close();
            process.waitFor();
        }
    }

    /** A test's namespace, and a client of it. */
    public static final class Database implements ExtensionContext.Store.CloseableResource {
        private final Server server;
        private final String accountId;
        public final DynamoDbClient client;

        Database(Server server) {
            this.server = server;
            accountId = value(server.ask("POST", "/_hashrange/testing/namespaces", ""), "account_id");
            client = DynamoDbClient.builder()
                    .endpointOverride(server.endpoint)
                    .region(Region.US_EAST_1)
                    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(accountId, "test")))
                    .build();
        }

        /** Move the time ahead, and wait until items have expired and whatever else was due is done. */
        public void moveClock(long seconds) {
            server.ask("POST", "/_hashrange/clock", "{\"advance_seconds\": " + seconds + "}");
            server.ask("POST", "/_hashrange/testing/idle", "");
        }

        public long nowEpochSeconds() {
            return (long) Double.parseDouble(value(server.ask("GET", "/_hashrange/clock", ""), "epoch_seconds"));
        }

        /** Have the next requests for an operation fail with InternalServerError. */
        public void fail(String operation, int times) {
            var rule = "{\"fault\": \"error\", \"operations\": [\"%s\"], \"times\": %d, \"account_id\": \"%s\"}";
            server.ask("POST", "/_hashrange/chaos", rule.formatted(operation, times, accountId));
        }

        /** What was asked so far, as JSON. */
        public String requests() {
            return server.ask("GET", "/_hashrange/testing/requests?account_id=" + accountId, "");
        }

        @Override
        public void close() {
            client.close();
            server.ask("DELETE", "/_hashrange/testing/namespaces/" + accountId, "");
        }
    }

    /** A member of a flat JSON object, without a library for it. */
    private static String value(String json, String member) {
        var match = Pattern.compile("\"" + member + "\": ?\"?([^\",}]+)").matcher(String.valueOf(json));
        if (!match.find()) {
            throw new IllegalStateException("hashrange did not start, or answered " + json);
        }
        return match.group(1);
    }
}
