import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.cloudwatch.AmazonCloudWatchClientBuilder;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreamsClientBuilder;
import com.amazonaws.services.dynamodbv2.model.AttributeDefinition;
import com.amazonaws.services.dynamodbv2.model.AttributeValue;
import com.amazonaws.services.dynamodbv2.model.CreateTableRequest;
import com.amazonaws.services.dynamodbv2.model.KeySchemaElement;
import com.amazonaws.services.dynamodbv2.model.ProvisionedThroughput;
import com.amazonaws.services.dynamodbv2.model.StreamSpecification;
import com.amazonaws.services.dynamodbv2.streamsadapter.AmazonDynamoDBStreamsAdapterClient;
import com.amazonaws.services.dynamodbv2.streamsadapter.StreamsWorkerFactory;
import com.amazonaws.services.dynamodbv2.streamsadapter.model.RecordAdapter;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.IRecordProcessorCheckpointer;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.v2.IRecordProcessor;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.InitialPositionInStream;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.KinesisClientLibConfiguration;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.ShutdownReason;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.Worker;
import com.amazonaws.services.kinesis.clientlibrary.types.InitializationInput;
import com.amazonaws.services.kinesis.clientlibrary.types.ProcessRecordsInput;
import com.amazonaws.services.kinesis.clientlibrary.types.ShutdownInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** The Kinesis Client Library reads a table's stream through AWS's adapter, across a split, with two workers in turn. */
final class Consumer {
    private static final int KEYS = 20;
    private static final Map<String, List<String>> SEEN = new ConcurrentHashMap<>();

    private Consumer() {}

    /** Notes the versions of every key in the order in which they come. */
    private static final class Processor implements IRecordProcessor {
        @Override
        public void initialize(InitializationInput input) {}

        @Override
        public void processRecords(ProcessRecordsInput input) {
            for (var record : input.getRecords()) {
                var change = ((RecordAdapter) record).getInternalObject().getDynamodb();
                SEEN.computeIfAbsent(change.getKeys().get("pk").getS(), key -> new ArrayList<>())
                        .add(change.getNewImage().get("v").getN());
            }
            checkpoint(input.getCheckpointer());
        }

        @Override
        public void shutdown(ShutdownInput input) {
            if (input.getShutdownReason() == ShutdownReason.TERMINATE) {
                checkpoint(input.getCheckpointer());
            }
        }

        private static void checkpoint(IRecordProcessorCheckpointer checkpointer) {
            try {
                checkpointer.checkpoint();
            } catch (Exception problem) {
                throw new IllegalStateException(problem);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        var endpoint = new EndpointConfiguration(arguments[0], "us-east-1");
        var credentials = new AWSStaticCredentialsProvider(new BasicAWSCredentials("test", "test"));
        AmazonDynamoDB dynamodb = AmazonDynamoDBClientBuilder.standard()
                .withEndpointConfiguration(endpoint).withCredentials(credentials).build();
        var streams = AmazonDynamoDBStreamsClientBuilder.standard()
                .withEndpointConfiguration(endpoint).withCredentials(credentials).build();
        var cloudWatch = AmazonCloudWatchClientBuilder.standard()
                .withEndpointConfiguration(endpoint).withCredentials(credentials).build();
        String table = "kcl-" + UUID.randomUUID();
        String arn = dynamodb.createTable(new CreateTableRequest()
                .withTableName(table)
                .withAttributeDefinitions(new AttributeDefinition("pk", "S"))
                .withKeySchema(new KeySchemaElement("pk", "HASH"))
                .withProvisionedThroughput(new ProvisionedThroughput(5L, 5L))
                .withStreamSpecification(new StreamSpecification()
                        .withStreamEnabled(true).withStreamViewType("NEW_IMAGE")))
                .getTableDescription().getLatestStreamArn();
        while (!dynamodb.describeTable(table).getTable().getTableStatus().equals("ACTIVE")) {
            Thread.sleep(10);
        }
        for (int round = 0; round < 2; round++) {
            write(dynamodb, table, 4 * round, 4 * round + 2);
            var configuration = new KinesisClientLibConfiguration(table + "-leases", arn, credentials, "worker-" + round)
                    .withInitialPositionInStream(InitialPositionInStream.TRIM_HORIZON)
                    .withMetricsLevel("NONE")
                    .withIdleTimeBetweenReadsInMillis(100)
                    .withParentShardPollIntervalMillis(200)
                    .withShardSyncIntervalMillis(500)
                    .withFailoverTimeMillis(2000)
                    .withTaskBackoffTimeMillis(200);
            Worker worker = StreamsWorkerFactory.createDynamoDbStreamsWorker(
                    Processor::new, configuration, new AmazonDynamoDBStreamsAdapterClient(streams), dynamodb, cloudWatch);
            var running = new Thread(worker);
            running.start();
            await(4 * round + 2);
            // More partitions: every shard is closed, and has children.
            dynamodb.updateTable(table, new ProvisionedThroughput(3000L * (round + 1), 3000L * (round + 1)));
            write(dynamodb, table, 4 * round + 2, 4 * round + 4);
            await(4 * round + 4);
            worker.startGracefulShutdown().get();
            running.join();
        }
        dynamodb.deleteTable(table);
        System.out.println("tour complete");
        System.exit(0);
    }

    private static void write(AmazonDynamoDB dynamodb, String table, int from, int to) {
        for (int version = from; version < to; version++) {
            for (int key = 0; key < KEYS; key++) {
                dynamodb.putItem(table, Map.of(
                        "pk", new AttributeValue("k" + key),
                        "v", new AttributeValue().withN(String.valueOf(version))));
            }
        }
    }

    /** Wait until so many versions of every key have come, which must be in order and none twice. */
    private static void await(int versions) throws InterruptedException {
        var expected = new ArrayList<String>();
        for (int version = 0; version < versions; version++) {
            expected.add(String.valueOf(version));
        }
        long deadline = System.currentTimeMillis() + 120_000;
        while (SEEN.values().stream().mapToInt(List::size).sum() < KEYS * versions) {
            if (System.currentTimeMillis() > deadline) {
                throw new AssertionError("not everything came: " + SEEN);
            }
            Thread.sleep(50);
        }
        for (int key = 0; key < KEYS; key++) {
            if (!expected.equals(SEEN.get("k" + key))) {
                throw new AssertionError("k" + key + ": " + SEEN.get("k" + key));
            }
        }
    }
}
