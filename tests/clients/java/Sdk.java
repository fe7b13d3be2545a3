import static java.util.Map.entry;
import static java.util.stream.Collectors.toList;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.waiters.WaiterResponse;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.*;
import software.amazon.awssdk.services.dynamodb.waiters.DynamoDbWaiter;

/** The AWS SDK for Java v2: a table with an index, every type, pages, batches, transactions, typed errors, waiters. */
public final class Sdk {
    private final DynamoDbClient client;
    private final String table = Settings.unique("java");

    private Sdk(DynamoDbClient client) {
        this.client = client;
    }

    public static void main(String[] arguments) {
        try (DynamoDbClient client = Settings.client(arguments[0])) {
            Sdk tour = new Sdk(client);
            tour.createsTable();
            tour.keepsEveryType();
            tour.changesItems();
            tour.readsInPages();
            tour.runsTransactions();
            tour.runsStatements();
            tour.namesErrors();
            tour.dropsTable();
        }
        System.out.println("tour complete");
    }

    private static AttributeValue text(String value) {
        return AttributeValue.fromS(value);
    }

    private static AttributeValue number(int value) {
        return AttributeValue.fromN(String.valueOf(value));
    }

    private static Map<String, AttributeValue> key(String customer, int placed) {
        return Map.of("customer", text(customer), "placed", number(placed));
    }

    private static List<KeySchemaElement> schema(String hash, String sort) {
        return List.of(
                KeySchemaElement.builder().attributeName(hash).keyType(KeyType.HASH).build(),
                KeySchemaElement.builder().attributeName(sort).keyType(KeyType.RANGE).build());
    }

    private static AttributeDefinition attribute(String name, ScalarAttributeType type) {
        return AttributeDefinition.builder().attributeName(name).attributeType(type).build();
    }

    private void createsTable() {
        client.createTable(request -> request.tableName(table)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(
                        attribute("customer", ScalarAttributeType.S),
                        attribute("placed", ScalarAttributeType.N),
                        attribute("state", ScalarAttributeType.S))
                .keySchema(schema("customer", "placed"))
                .globalSecondaryIndexes(index -> index.indexName("by-state")
                        .keySchema(schema("state", "placed"))
                        .projection(projection -> projection.projectionType(ProjectionType.ALL))));
        try (DynamoDbWaiter waiter = client.waiter()) {
            WaiterResponse<DescribeTableResponse> active =
                    waiter.waitUntilTableExists(request -> request.tableName(table));
            TableStatus status = active.matched().response().orElseThrow().table().tableStatus();
            Settings.check(status == TableStatus.ACTIVE, status);
        }
        boolean listed = client.listTablesPaginator().tableNames().stream().anyMatch(table::equals);
        Settings.check(listed, "the table is not listed");
    }

    private void keepsEveryType() {
        Map<String, AttributeValue> item = Map.ofEntries(
                entry("customer", text("ann")),
                entry("placed", number(1)),
                entry("price", AttributeValue.fromN("12.5")),
                entry("long", AttributeValue.fromN("12345678901234567890123456789012345678")),
                entry("paid", AttributeValue.fromBool(true)),
                entry("nothing", AttributeValue.fromNul(true)),
                entry("photo", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[] {0, 1, -1}))),
                entry("tags", AttributeValue.fromSs(List.of("a", "b"))),
                entry("sizes", AttributeValue.fromNs(List.of("1", "2"))),
                entry("parts", AttributeValue.fromBs(List.of(SdkBytes.fromUtf8String("x")))),
                entry("basket", AttributeValue.fromL(List.of(AttributeValue.fromM(Map.of("sku", text("ü")))))),
                entry("empty", text("")));
        client.putItem(request -> request.tableName(table).item(item));
        GetItemResponse found = client.getItem(request -> request.tableName(table)
                .key(key("ann", 1))
                .consistentRead(true)
                .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL));
        Settings.check(found.item().equals(item), found.item());
        Settings.check(found.consumedCapacity().capacityUnits() == 1.0, found.consumedCapacity());
        Settings.check(!client.getItem(request -> request.tableName(table).key(key("nobody", 1))).hasItem(), "nobody");
    }

    private void changesItems() {
        UpdateItemResponse changed = client.updateItem(request -> request.tableName(table)
                .key(key("ann", 1))
                .updateExpression("SET #s = :open, basket[1] = :line ADD price :more REMOVE nothing DELETE tags :tags")
                .conditionExpression("paid = :yes AND size(photo) = :three")
                .expressionAttributeNames(Map.of("#s", "state"))
                .expressionAttributeValues(Map.of(
                        ":open", text("open"),
                        ":line", text("second"),
                        ":more", AttributeValue.fromN("7.5"),
                        ":tags", AttributeValue.fromSs(List.of("a")),
                        ":yes", AttributeValue.fromBool(true),
                        ":three", number(3)))
                .returnValues(ReturnValue.ALL_NEW));
        Settings.check(changed.attributes().get("price").n().equals("20"), changed);
        Settings.check(changed.attributes().get("basket").l().size() == 2, changed);
        Settings.check(changed.attributes().get("tags").ss().equals(List.of("b")), changed);
        ConditionalCheckFailedException refused = Settings.refused(
                ConditionalCheckFailedException.class,
                () -> client.putItem(request -> request.tableName(table)
                        .item(key("ann", 1))
                        .conditionExpression("attribute_not_exists(customer)")
                        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)));
        Settings.check(refused.item().get("state").s().equals("open"), refused.item());
    }

    private WriteRequest put(int placed) {
        Map<String, AttributeValue> item =
                Map.of("customer", text("bob"), "placed", number(placed), "state", text("s" + placed % 2));
        return WriteRequest.builder().putRequest(put -> put.item(item)).build();
    }

    private void readsInPages() {
        List<WriteRequest> writes = IntStream.range(0, 60).mapToObj(this::put).collect(toList());
        DynamoDbException tooMany = Settings.refused(
                DynamoDbException.class, () -> client.batchWriteItem(batch -> batch.requestItems(Map.of(table, writes))));
        Settings.check(tooMany.awsErrorDetails().errorCode().equals("ValidationException"), tooMany);
        for (int start = 0; start < writes.size(); start += 25) {
            List<WriteRequest> part = writes.subList(start, Math.min(start + 25, writes.size()));
            BatchWriteItemResponse done = client.batchWriteItem(batch -> batch.requestItems(Map.of(table, part)));
            Settings.check(done.unprocessedItems().isEmpty(), done);
        }
        List<String> placed = new ArrayList<>();
        client.queryPaginator(query -> query.tableName(table)
                        .indexName("by-state")
                        .keyConditionExpression("#s = :s AND placed > :p")
                        .expressionAttributeNames(Map.of("#s", "state"))
                        .expressionAttributeValues(Map.of(":s", text("s1"), ":p", number(20)))
                        .scanIndexForward(false)
                        .limit(7))
                .items()
                .forEach(item -> placed.add(item.get("placed").n()));
        Settings.check(placed.size() == 20 && placed.get(0).equals("59") && placed.get(19).equals("21"), placed);
        int count = client.scanPaginator(scan -> scan.tableName(table).limit(9)).stream()
                .mapToInt(ScanResponse::count)
                .sum();
        Settings.check(count == 61, count);
        KeysAndAttributes keys = KeysAndAttributes.builder().keys(key("bob", 1), key("bob", 2), key("bob", 999)).build();
        long found = client.batchGetItemPaginator(batch -> batch.requestItems(Map.of(table, keys))).stream()
                .flatMap(page -> page.responses().get(table).stream())
                .count();
        Settings.check(found == 2, found);
    }

    private TransactWriteItem transactPut(int placed) {
        return TransactWriteItem.builder().put(put -> put.tableName(table).item(key("tx", placed))).build();
    }

    private void runsTransactions() {
        String token = Settings.unique("t").substring(0, 36);
        for (int turn = 0; turn < 2; turn++) {
            client.transactWriteItems(
                    write -> write.transactItems(transactPut(1), transactPut(2)).clientRequestToken(token));
        }
        Settings.refused(
                IdempotentParameterMismatchException.class,
                () -> client.transactWriteItems(write -> write.transactItems(transactPut(9)).clientRequestToken(token)));
        TransactWriteItem guard = TransactWriteItem.builder()
                .conditionCheck(check -> check.tableName(table)
                        .key(key("tx", 1))
                        .conditionExpression("attribute_not_exists(customer)"))
                .build();
        TransactionCanceledException cancelled = Settings.refused(
                TransactionCanceledException.class,
                () -> client.transactWriteItems(write -> write.transactItems(transactPut(3), guard)));
        List<String> codes =
                cancelled.cancellationReasons().stream().map(CancellationReason::code).collect(toList());
        Settings.check(codes.equals(List.of("None", "ConditionalCheckFailed")), codes);
        List<ItemResponse> found = client.transactGetItems(read -> read.transactItems(
                        TransactGetItem.builder().get(get -> get.tableName(table).key(key("tx", 1))).build(),
                        TransactGetItem.builder().get(get -> get.tableName(table).key(key("tx", 3))).build()))
                .responses();
        Settings.check(found.get(0).hasItem() && !found.get(1).hasItem(), found);
    }

    private void runsStatements() {
        String statement = "SELECT placed FROM \"" + table + "\" WHERE customer = ? AND placed >= ?";
        ExecuteStatementResponse found =
                client.executeStatement(request -> request.statement(statement).parameters(text("bob"), number(55)));
        Settings.check(found.items().size() == 5, found.items());
    }

    private void namesErrors() {
        Settings.refused(
                ResourceNotFoundException.class,
                () -> client.getItem(request -> request.tableName("missing").key(key("x", 1))));
        Settings.refused(
                ResourceInUseException.class,
                () -> client.createTable(request -> request.tableName(table)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(
                                attribute("a", ScalarAttributeType.S), attribute("b", ScalarAttributeType.S))
                        .keySchema(schema("a", "b"))));
        DynamoDbException syntax = Settings.refused(
                DynamoDbException.class,
                () -> client.getItem(request -> request.tableName(table).key(key("x", 1)).projectionExpression("a,,b")));
        Settings.check(syntax.awsErrorDetails().errorCode().equals("ValidationException"), syntax);
        Settings.check(syntax.statusCode() == 400 && !syntax.requestId().isEmpty(), syntax);
    }

    private void dropsTable() {
        client.deleteTable(request -> request.tableName(table));
        try (DynamoDbWaiter waiter = client.waiter()) {
            waiter.waitUntilTableNotExists(request -> request.tableName(table));
        }
    }
}
