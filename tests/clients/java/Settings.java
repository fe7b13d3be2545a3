import java.net.URI;
import java.util.UUID;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** How both tours reach the server under test, and how they insist on something. */
final class Settings {
    private Settings() {}

    static DynamoDbClient client(String endpoint) {
        return DynamoDbClient.builder()
                .endpointOverride(URI.create(endpoint))
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
                .httpClient(UrlConnectionHttpClient.create())
                .build();
    }

    static String unique(String name) {
        return name + "-" + UUID.randomUUID();
    }

    static void check(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** The exception of this type that the call has to end with. */
    static <T extends Exception> T refused(Class<T> type, Runnable call) {
        try {
            call.run();
        } catch (Exception problem) {
            if (type.isInstance(problem)) {
                return type.cast(problem);
            }
            throw new AssertionError("not " + type.getSimpleName(), problem);
        }
        throw new AssertionError("nothing was refused with " + type.getSimpleName());
    }
}
