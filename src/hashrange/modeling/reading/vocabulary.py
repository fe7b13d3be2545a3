"""Every member that a model file may have, by the section in which it stands. docs/model-file.md explains them all."""

MODEL = ("hashrange", "name", "description", "region", "curves", "tables", "entities", "patterns")
CURVE = ("peak", "at", "width")
TABLE = (
    "partition_key",
    "sort_key",
    "indexes",
    "billing",
    "class",
    "ttl",
    "stream",
    "point_in_time_recovery",
    "backups",
    "replicas",
    "dax",
)
KEY = ("name", "type")
INDEX = ("partition_key", "sort_key", "local", "projection")
STREAM = ("view", "readers")
BILLING = ("mode", "reads", "writes")
SCALING = ("minimum", "maximum", "target")
DAX = ("node", "nodes")
ENTITY = ("table", "count", "growth", "item_growth", "retention", "keys", "attributes")
COUNT = ("count", "at most", "spread")
KEY_TEMPLATE = ("template", "if")
ATTRIBUTE = (
    "type",
    "format",
    "size",
    "max_size",
    "values",
    "distinct",
    "minimum",
    "maximum",
    "refers",
    "optional",
)
PATTERN = ("id", "name", "actor", "verb", "rate", "keys", "screen")
READ = (
    *PATTERN,
    "entity",
    "entities",
    "where",
    "filter",
    "order",
    "limit",
    "project",
    "consistency",
    "operation",
    "index",
    "batch",
)
WRITE = (*PATTERN, "write", "batch", "transaction", "token")
STEP = (
    "put",
    "update",
    "delete",
    "check",
    "if",
    "set",
    "add",
    "subtract",
    "append",
    "remove",
    "count",
    "reads_first",
)
RATE = ("average", "curve", "growth")
DISTRIBUTION = ("uniform", "zipf", "time-rolling")

SECTIONS = {
    "the file": MODEL,
    "a curve": CURVE,
    "a table": TABLE,
    "a key": KEY,
    "an index": INDEX,
    "a stream": STREAM,
    "billing": BILLING,
    "scaling": SCALING,
    "dax": DAX,
    "an entity": ENTITY,
    "a count": COUNT,
    "a key template": KEY_TEMPLATE,
    "an attribute": ATTRIBUTE,
    "a read pattern": READ,
    "a write pattern": WRITE,
    "a step": STEP,
    "a rate": RATE,
    "a distribution": DISTRIBUTION,
}
