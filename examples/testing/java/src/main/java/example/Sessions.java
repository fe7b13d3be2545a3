package example;

import java.util.Map;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/** The application: sessions that end after an hour. */
public final class Sessions {
    private static final String TABLE = "sessions";
    private final DynamoDbClient client;

    public Sessions(DynamoDbClient client) {
        this.client = client;
    }

    public void createTable() {
        client.createTable(table -> table
                .tableName(TABLE)
                .keySchema(key -> key.attributeName("token").keyType(KeyType.HASH))
                .attributeDefinitions(key -> key.attributeName("token").attributeType(ScalarAttributeType.S))
                .billingMode(BillingMode.PAY_PER_REQUEST));
        client.updateTimeToLive(change -> change
                .tableName(TABLE)
                .timeToLiveSpecification(ttl -> ttl.enabled(true).attributeName("expires")));
    }

    public void begin(String token, long nowEpochSeconds) {
        var expires = AttributeValue.fromN(Long.toString(nowEpochSeconds + 3600));
        client.putItem(put -> put
                .tableName(TABLE)
                .item(Map.of("token", AttributeValue.fromS(token), "expires", expires)));
    }

    public boolean exists(String token) {
        return client.getItem(get -> get.tableName(TABLE).key(Map.of("token", AttributeValue.fromS(token)))).hasItem();
    }
}
