"""Clients of a server that a test has started."""

from typing import Any

import boto3
from botocore.config import Config

from serving import Serving

REGION = "us-east-1"


def client_of(server: Serving, service: str = "dynamodb", config: Config | None = None) -> Any:
    return boto3.client(
        service,
        endpoint_url=server.endpoint,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=config,
    )
