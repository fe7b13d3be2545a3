import static java.util.stream.Collectors.toList;
import static software.amazon.awssdk.enhanced.dynamodb.mapper.StaticAttributeTags.primaryPartitionKey;
import static software.amazon.awssdk.enhanced.dynamodb.mapper.StaticAttributeTags.primarySortKey;
import static software.amazon.awssdk.enhanced.dynamodb.mapper.StaticAttributeTags.secondaryPartitionKey;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.EnhancedType;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.extensions.VersionedRecordExtension;
import software.amazon.awssdk.enhanced.dynamodb.mapper.StaticTableSchema;
import software.amazon.awssdk.enhanced.dynamodb.model.BatchWriteResult;
import software.amazon.awssdk.enhanced.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.enhanced.dynamodb.model.EnhancedGlobalSecondaryIndex;
import software.amazon.awssdk.enhanced.dynamodb.model.PutItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.WriteBatch;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/** The enhanced client: mapped records with a version, an index, batches and transactions. */
public final class Enhanced {
    /** A pet as a Java program keeps it. */
    public static final class Pet {
        private String kind;
        private Integer number;
        private String owner;
        private Set<String> tags;
        private Integer version;

        public String getKind() {
            return kind;
        }

        public void setKind(String kind) {
            this.kind = kind;
        }

        public Integer getNumber() {
            return number;
        }

        public void setNumber(Integer number) {
            this.number = number;
        }

        public String getOwner() {
            return owner;
        }

        public void setOwner(String owner) {
            this.owner = owner;
        }

        public Set<String> getTags() {
            return tags;
        }

        public void setTags(Set<String> tags) {
            this.tags = tags;
        }

        public Integer getVersion() {
            return version;
        }

        public void setVersion(Integer version) {
            this.version = version;
        }
    }

    private static final TableSchema<Pet> SCHEMA = StaticTableSchema.builder(Pet.class)
            .newItemSupplier(Pet::new)
            .addAttribute(String.class, a -> a.name("kind").getter(Pet::getKind).setter(Pet::setKind).tags(primaryPartitionKey()))
            .addAttribute(Integer.class, a -> a.name("number").getter(Pet::getNumber).setter(Pet::setNumber).tags(primarySortKey()))
            .addAttribute(String.class, a -> a.name("owner").getter(Pet::getOwner).setter(Pet::setOwner).tags(secondaryPartitionKey("by-owner")))
            .addAttribute(EnhancedType.setOf(String.class), a -> a.name("tags").getter(Pet::getTags).setter(Pet::setTags))
            .addAttribute(Integer.class, a -> a.name("version").getter(Pet::getVersion).setter(Pet::setVersion)
                    .tags(VersionedRecordExtension.AttributeTags.versionAttribute()))
            .build();

    private final DynamoDbClient plain;
    private final DynamoDbEnhancedClient client;
    private final DynamoDbTable<Pet> pets;

    private Enhanced(DynamoDbClient plain) {
        this.plain = plain;
        client = DynamoDbEnhancedClient.builder().dynamoDbClient(plain).build();
        pets = client.table(Settings.unique("enhanced"), SCHEMA);
    }

    public static void main(String[] arguments) {
        try (DynamoDbClient plain = Settings.client(arguments[0])) {
            Enhanced tour = new Enhanced(plain);
            tour.createsTable();
            tour.keepsItems();
            tour.readsInPages();
            tour.runsTransactions();
            tour.pets.deleteTable();
        }
        System.out.println("tour complete");
    }

    private static Pet pet(String kind, int number) {
        Pet pet = new Pet();
        pet.setKind(kind);
        pet.setNumber(number);
        pet.setOwner("o" + number % 2);
        return pet;
    }

    private static Key key(String kind, int number) {
        return Key.builder().partitionValue(kind).sortValue(number).build();
    }

    private void createsTable() {
        pets.createTable(table -> table.globalSecondaryIndices(EnhancedGlobalSecondaryIndex.builder()
                .indexName("by-owner")
                .projection(projection -> projection.projectionType(ProjectionType.ALL))
                .build()));
        plain.waiter().waitUntilTableExists(request -> request.tableName(pets.tableName()));
    }

    private void keepsItems() {
        Pet cat = pet("cat", 1);
        cat.setTags(Set.of("grey", "fat"));
        pets.putItem(cat);
        Pet found = pets.getItem(get -> get.key(key("cat", 1)).consistentRead(true));
        Settings.check(found.getTags().equals(cat.getTags()) && found.getVersion() == 1, found.getVersion());
        found.setOwner("new");
        Settings.check(pets.updateItem(found).getVersion() == 2, "the version was not raised");
        Settings.refused(ConditionalCheckFailedException.class, () -> pets.updateItem(found));
        Expression fresh = Expression.builder().expression("attribute_not_exists(kind)").build();
        Settings.refused(
                ConditionalCheckFailedException.class,
                () -> pets.putItem(PutItemEnhancedRequest.builder(Pet.class)
                        .item(pet("cat", 1))
                        .conditionExpression(fresh)
                        .build()));
        Settings.check(pets.deleteItem(key("cat", 1)).getOwner().equals("new"), "the old item was not given");
        Settings.check(pets.getItem(key("cat", 1)) == null, "it is still there");
    }

    private void readsInPages() {
        // Batches know no conditions, which a version needs.
        DynamoDbEnhancedClient unversioned =
                DynamoDbEnhancedClient.builder().dynamoDbClient(plain).extensions(List.of()).build();
        DynamoDbTable<Pet> many = unversioned.table(pets.tableName(), SCHEMA);
        for (int start = 0; start < 60; start += 20) {
            WriteBatch.Builder<Pet> batch = WriteBatch.builder(Pet.class).mappedTableResource(many);
            IntStream.range(start, start + 20).forEach(number -> batch.addPutItem(pet("dog", number)));
            BatchWriteResult done = unversioned.batchWriteItem(write -> write.writeBatches(batch.build()));
            Settings.check(done.unprocessedPutItemsForTable(many).isEmpty(), done);
        }
        QueryConditional between = QueryConditional.sortBetween(key("dog", 10), key("dog", 39));
        List<Integer> numbers = pets.query(query -> query.queryConditional(between).limit(7)).items().stream()
                .map(Pet::getNumber)
                .collect(toList());
        Settings.check(numbers.equals(IntStream.range(10, 40).boxed().collect(toList())), numbers);
        Expression few = Expression.builder()
                .expression("#n < :n")
                .expressionNames(Map.of("#n", "number"))
                .expressionValues(Map.of(":n", AttributeValue.fromN("10")))
                .build();
        QueryConditional owner = QueryConditional.keyEqualTo(Key.builder().partitionValue("o1").build());
        long odd = pets.index("by-owner")
                .query(query -> query.queryConditional(owner).filterExpression(few))
                .stream()
                .mapToLong(page -> page.items().size())
                .sum();
        Settings.check(odd == 5, odd);
        Settings.check(pets.scan(scan -> scan.limit(8)).items().stream().count() == 60, "the scan is not whole");
    }

    private void runsTransactions() {
        client.transactWriteItems(write -> write.addPutItem(pets, pet("bird", 1)).addDeleteItem(pets, key("dog", 0)));
        Expression missing = Expression.builder().expression("attribute_not_exists(kind)").build();
        ConditionCheck<Pet> guard = ConditionCheck.builder().key(key("bird", 1)).conditionExpression(missing).build();
        TransactionCanceledException cancelled = Settings.refused(
                TransactionCanceledException.class,
                () -> client.transactWriteItems(
                        write -> write.addConditionCheck(pets, guard).addPutItem(pets, pet("bird", 2))));
        Settings.check(cancelled.cancellationReasons().get(0).code().equals("ConditionalCheckFailed"), cancelled);
        Pet bird = client.transactGetItems(get -> get.addGetItem(pets, key("bird", 1)).addGetItem(pets, key("bird", 2)))
                .get(0)
                .getItem(pets);
        Settings.check(bird.getVersion() == 1, bird.getVersion());
    }
}
