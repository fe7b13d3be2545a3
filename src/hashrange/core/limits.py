"""Every limit of the service: one home, with its source."""

KB = 1024
MB = 1024 * KB

# Items (developer guide: Quotas; the 400 KB gate was measured to the byte)
ITEM_BYTES_MAX = 400 * KB
NESTING_LEVELS_MAX = 32
NEWER_FORM_NESTING_LEVELS_MAX = 63  # measured: beyond about so many, writes of one item answer in older words
LIST_INDEX_MAX = 2**31 - 1  # recorded: a larger index in a document path is refused
PARTITION_KEY_BYTES_MAX = 2048
SORT_KEY_BYTES_MAX = 1024
ATTRIBUTE_NAME_BYTES_MAX = 65535
KEY_ATTRIBUTE_NAME_CHARS_MAX = 255

# Numbers (developer guide: Naming rules and data types)
NUMBER_DIGITS_MAX = 38
NUMBER_EXPONENT_MAX = 125
NUMBER_EXPONENT_MIN = -130

# Expressions (developer guide: Quotas)
EXPRESSION_BYTES_MAX = 4096
EXPRESSION_OPERATORS_MAX = 300
IN_OPERANDS_MAX = 100
PLACEHOLDER_BYTES_MAX = 255

# Reads
PAGE_BYTES_MAX = MB  # API_Query
BATCH_GET_KEYS_MAX = 100  # API_BatchGetItem
BATCH_GET_BYTES_MAX = 16 * MB  # API_BatchGetItem
BATCH_GET_JSON_BYTES_MAX = 32 * MB  # our own: the JSON of 16 MB of items may be nine times as large
TOTAL_SEGMENTS_MAX = 1_000_000  # API_Scan

# Writes
BATCH_WRITE_ITEMS_MAX = 25  # API_BatchWriteItem
TRANSACT_ITEMS_MAX = 100  # API_TransactWriteItems
TRANSACT_BYTES_MAX = 4 * MB  # API_TransactWriteItems
IDEMPOTENCY_SECONDS = 600  # API_TransactWriteItems: a token is good for ten minutes
CLIENT_REQUEST_TOKEN_CHARS_MAX = 36

# Streams
STREAM_SECONDS = 24 * 3600  # developer guide: records can be read for so long, and streams after their end
STREAM_RECORDS_MAX = 1000  # API_streams_GetRecords
STREAM_PAGE_BYTES_MAX = MB  # API_streams_GetRecords
LIST_STREAMS_MAX = 100  # API_streams_ListStreams
DESCRIBE_STREAM_SHARDS_MAX = 100  # API_streams_DescribeStream
SHARD_ITERATOR_SECONDS = 15 * 60  # API_streams_GetShardIterator

# PartiQL
STATEMENT_CHARS_MAX = 8192  # API_ExecuteStatement
STATEMENT_BATCH_MAX = 25  # API_BatchExecuteStatement
STATEMENT_TRANSACTION_MAX = 100  # API_ExecuteTransaction
STATEMENT_READS_MAX = 50  # recorded: alternatives on keys that one SELECT may have
STATEMENT_READS_PER_PAGE = 10  # developer guide: PartiQL operators, IN
NEXT_TOKEN_CHARS_MAX = 32768  # API_ExecuteStatement

# Tables and indexes (developer guide: Quotas)
NAME_CHARS_MIN = 3
NAME_CHARS_MAX = 255
TABLE_ARN_CHARS_MAX = 1024
LOCAL_INDEXES_MAX = 5
GLOBAL_INDEXES_MAX = 20
INDEX_KEY_ATTRIBUTES_MAX = 4  # per key type, global indexes only
PROJECTED_ATTRIBUTES_MAX = 100
PROJECTED_ATTRIBUTES_PER_INDEX_MAX = 20
TAGS_MAX = 50
TAG_KEY_CHARS_MAX = 128  # API_Tag
TAG_VALUE_CHARS_MAX = 256  # API_Tag
TABLE_CAPACITY_UNITS_MAX = 40_000
ACCOUNT_CAPACITY_UNITS_MAX = 80_000
LIST_TABLES_MAX = 100
ONLINE_INDEX_CHANGES_MAX = 1
DECREASES_FREE_PER_DAY = 4  # of provisioned throughput, per table or index and UTC day
DECREASE_INTERVAL_SECONDS = 3600  # between further ones
ON_DEMAND_SWITCHES_PER_DAY = 4  # from provisioned, in any 24 hours
TABLE_CLASS_CHANGES_MAX = 2  # in any 30 days: API_UpdateTable
TABLE_CLASS_WINDOW_DAYS = 30
ENCRYPTION_CHANGES_FREE = 4  # in any 24 hours
ENCRYPTION_CHANGE_INTERVAL_SECONDS = 6 * 3600  # between further ones
TABLE_SLOT_MAX = 0xFFFE  # our own: storage/layout.py has two bytes for a slot, and uses the last one itself

# Time to live (developer guide: using time to live)
EXPIRY_AGE_SECONDS_MAX = 5 * 365 * 24 * 3600  # an item that expired longer ago is never deleted

# Capacity (developer guide: read and write capacity)
READ_UNIT_BYTES = 4 * KB
WRITE_UNIT_BYTES = KB
ON_DEMAND_WARM_READS = 12_000
ON_DEMAND_WARM_WRITES = 4_000
PARTITION_READ_UNITS = 3_000
PARTITION_WRITE_UNITS = 1_000
PARTITION_BYTES = 10 * 1024 * MB

RECOVERY_DAYS_MAX = 35  # API_PointInTimeRecoverySpecification

# CloudWatch (API references; user guide: Metrics retention)
CLOUDWATCH_METRIC_SECONDS = (
    15 * 24 * 3600
)  # what one-minute data is kept for; ours is added up earlier: docs/metrics.md
STATISTICS_DATAPOINTS_MAX = 1440  # API_GetMetricStatistics
METRIC_QUERIES_MAX = 500  # API_GetMetricData
METRIC_DATAPOINTS_MAX = 100_800  # API_GetMetricData: on one page
METRIC_DATAPOINTS_READ_MAX = 500_000  # our own: for all pages of one request
METRIC_MATH_POINTS_MAX = 4_000_000  # our own: that the expressions of one request compute, a second or two
METRIC_EXPRESSION_CHARS_MAX = 200_000  # our own: of all expressions of one request, a second of parsing
ALARM_MATH_POINTS_MAX = 200_000  # our own: that those of an alarm compute every minute
ALARM_EXPRESSIONS_MAX = 10  # API_MetricDataQuery
SEARCHES_MAX = 10  # our own: in one request, each of which looks at all metrics
SEARCHED_SERIES_MAX = 100  # user guide: search expressions give so many at most
LIST_METRICS_MAX = 500  # API_ListMetrics
PUT_METRICS_MAX = 1000  # API_PutMetricData
PUT_METRIC_VALUES_MAX = 150  # API_MetricDatum
METRIC_VALUE_MAX = 2.0**360  # API_MetricDatum
METRIC_AGE_SECONDS_MAX = 14 * 24 * 3600  # API_PutMetricData
METRIC_AHEAD_SECONDS_MAX = 2 * 3600
ALARM_METRICS_MAX = 10  # API_PutMetricAlarm: in an expression
ALARM_HISTORY_SECONDS = 30 * 24 * 3600  # API_DescribeAlarmHistory
ALARM_RANGE_SECONDS_MAX = 7 * 24 * 3600  # API_PutMetricAlarm: of all periods, where they have an hour or more
ALARM_SHORT_RANGE_SECONDS_MAX = 24 * 3600  # where they are shorter
ALARM_TAGS_MAX = 50  # API_TagResource

# Resource policies (developer guide: Resource-based policy considerations; API_PutResourcePolicy)
RESOURCE_POLICY_BYTES_MAX = 20_480  # white space counts
RESOURCE_ARN_CHARS_MAX = 1283
REVISION_ID_CHARS_MAX = 255

# Application Auto Scaling (user guide: Quotas)
SCALABLE_TARGETS_MAX = 5000  # of DynamoDB, per region
SCHEDULED_ACTIONS_MAX = 200  # per scalable target
KEY_ROTATIONS_ON_DEMAND_MAX = 25  # KMS Developer Guide, rotating keys on demand
SCALING_PAGE_MAX = 50  # API_DescribeScalableTargets
SCALING_POLICIES_PAGE_MAX = 10  # API_DescribeScalingPolicies

# Identities (IAM and STS quotas).
IAM_USERS_MAX = 5000
IAM_GROUPS_MAX = 300
IAM_ROLES_MAX = 1000
IAM_POLICIES_MAX = 1500
IAM_GROUPS_PER_USER_MAX = 10
IAM_ACCESS_KEYS_PER_USER_MAX = 2
IAM_ATTACHED_POLICIES_MAX = 10
IAM_POLICY_VERSIONS_MAX = 5
IAM_TAGS_MAX = 50
# Characters of all inline policies together; white space does not count.
IAM_USER_POLICY_CHARS_MAX = 2048
IAM_GROUP_POLICY_CHARS_MAX = 5120
IAM_ROLE_POLICY_CHARS_MAX = 10_240
IAM_MANAGED_POLICY_CHARS_MAX = 6144
IAM_TRUST_POLICY_CHARS_MAX = 2048
SESSION_TOKEN_CHARS_MAX = 6144  # a header must have room for it
