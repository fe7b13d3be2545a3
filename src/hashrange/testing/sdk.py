"""boto3, which is imported when somebody asks for a client: it takes longer than all the rest."""

from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hashrange.testing.control import TestingFailed

if TYPE_CHECKING:
    from hashrange.testing.namespace import Namespace


@cache
def _session() -> Any:
    """One for all: another would read the service's model anew, a tenth of a second."""
    return boto3().session.Session()


def boto3() -> ModuleType:
    """The package."""
    try:
        import boto3 as package  # noqa: PLC0415 - see above
    except ImportError:
        raise TestingFailed("clients are boto3's: pip install 'hashrange[testing]'") from None
    module: ModuleType = package
    return module


def client(namespace: "Namespace", service: str, options: dict[str, Any]) -> Any:
    """A client that uses a namespace."""
    return _session().client(service, **_place(namespace), **options)


def resource(namespace: "Namespace", service: str, options: dict[str, Any]) -> Any:
    """A resource that uses a namespace."""
    return _session().resource(service, **_place(namespace), **options)


def _place(namespace: "Namespace") -> dict[str, Any]:
    return {
        "endpoint_url": namespace.endpoint_url,
        "region_name": namespace.region,
        "aws_access_key_id": namespace.access_key,
        "aws_secret_access_key": "test",
    }
