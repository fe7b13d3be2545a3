"""The README's tour as a program: give it an endpoint, see a table come and go."""

import sys
from typing import Any

import boto3
from boto3.dynamodb.conditions import Key


def tour(endpoint: str) -> list[dict[str, Any]]:
    """Create a table, write, count, query, and clean up; give the songs found, most played first."""
    dynamodb = boto3.resource(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    table = dynamodb.create_table(
        TableName="tour-music",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "song", "AttributeType": "S"},
            {"AttributeName": "plays", "AttributeType": "N"},
        ],
        KeySchema=[
            {"AttributeName": "artist", "KeyType": "HASH"},
            {"AttributeName": "song", "KeyType": "RANGE"},
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by-plays",
                "KeySchema": [
                    {"AttributeName": "artist", "KeyType": "HASH"},
                    {"AttributeName": "plays", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    table.wait_until_exists()
    with table.batch_writer() as batch:
        for plays, song in enumerate(("Sinnerman", "Feeling Good", "Mississippi Goddam"), 1):
            batch.put_item(Item={"artist": "Nina Simone", "song": song, "plays": plays})
    table.update_item(
        Key={"artist": "Nina Simone", "song": "Sinnerman"},
        UpdateExpression="ADD plays :more",
        ConditionExpression="attribute_exists(song)",
        ExpressionAttributeValues={":more": 10},
    )
    found = table.query(
        IndexName="by-plays", KeyConditionExpression=Key("artist").eq("Nina Simone"), ScanIndexForward=False
    )["Items"]
    table.delete()
    table.wait_until_not_exists()
    return found


if __name__ == "__main__":
    for each in tour(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"):
        print(f"{each['plays']:>4}  {each['song']}")
