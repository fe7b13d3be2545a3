"""Managed policies that every account has without making them: those that tools and guides name."""

from functools import cache

from hashrange.auth.policy import documents
from hashrange.auth.policy.documents import Kind
from hashrange.auth.policy.policy import Policy

ADMINISTRATOR_ACCESS = "arn:aws:iam::aws:policy/AdministratorAccess"
_PREFIX = "arn:aws:iam::aws:policy/"


def _allowing(*actions: str) -> str:
    listed = ",".join(f'"{action}"' for action in actions)
    return f'{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Action":[{listed}],"Resource":"*"}}]}}'


DOCUMENTS = {
    ADMINISTRATOR_ACCESS: _allowing("*"),
    f"{_PREFIX}AmazonDynamoDBFullAccess": _allowing(
        "dynamodb:*", "application-autoscaling:*", "cloudwatch:*", "kms:DescribeKey", "kms:ListAliases"
    ),
    f"{_PREFIX}AmazonDynamoDBReadOnlyAccess": _allowing(
        "dynamodb:BatchGetItem",
        "dynamodb:Describe*",
        "dynamodb:Get*",
        "dynamodb:List*",
        "dynamodb:PartiQLSelect",
        "dynamodb:Query",
        "dynamodb:Scan",
        "application-autoscaling:Describe*",
        "cloudwatch:Describe*",
        "cloudwatch:Get*",
        "cloudwatch:List*",
        "kms:DescribeKey",
        "kms:ListAliases",
    ),
    f"{_PREFIX}IAMFullAccess": _allowing("iam:*"),
    f"{_PREFIX}IAMReadOnlyAccess": _allowing("iam:Get*", "iam:List*"),
}


def find(arn: str) -> Policy | None:
    """The compiled policy; None if there is none of this ARN."""
    return _compiled(arn) if arn in DOCUMENTS else None


@cache  # of the documents above, however many ARNs are asked for
def _compiled(arn: str) -> Policy:
    return documents.parse(DOCUMENTS[arn], Kind.IDENTITY, name=arn.rpartition("/")[2], arn=arn)
