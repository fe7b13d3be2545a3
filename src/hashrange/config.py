"""Settings: every flag, its environment variable, its default and what it accepts."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hashrange import logs
from hashrange.addresses import binds_loopback, is_loopback
from hashrange.durations import parse_duration, shown_duration
from hashrange.passwords import masked_place
from hashrange.web_settings import host_names, issuer, origins

ENVIRONMENT_PREFIX = "HASHRANGE_"
_REGION = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_YES = frozenset({"1", "true", "yes", "on"})
_DAY_SECONDS = 24 * 3600
_DATA_DIR = Path("hashrange-data")
_POSTGRES_URLS = ("postgresql://", "postgres://")
_ENDPOINT = re.compile(r"https?://(?:[^@\s]+@)?[^/@\s?#]+(?:/[^\s?#]*)?")
_BUCKET = re.compile(r"s3://[a-zA-Z0-9][a-zA-Z0-9._-]{1,253}(?:/[^\s?#]*)?")
_KMS_ENDPOINT = re.compile(r"(https?)://(\[[0-9a-fA-F:.]+\]|[^/\s?#@:\[\]]+)(?::[0-9]{1,5})?/?")
_NO = frozenset({"", "0", "false", "no", "off"})
AUDIT_FILE_NAME = "audit.jsonl"  # in the data directory
LAG_MS_MAX = 60_000
AUTH_MODES = ("off", "signature", "iam")


class SettingInvalid(Exception):
    """A setting has a value it cannot have; the message is meant for the person who set it."""


def _root_key(text: str) -> str:
    kind, _, rest = text.partition(":")
    if kind not in {"file", "env", "command", "kms"} or not rest:
        raise ValueError("it must be file:PATH, env:NAME, command:COMMAND or kms:PATH")
    return text


def _whole_number(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return parse


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text.lower()

    return parse


def _duration(seconds_max: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        seconds = parse_duration(text)
        if seconds > seconds_max:
            raise ValueError(f"must not be more than {shown_duration(seconds_max)}")
        return seconds

    return parse


def _switch(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        raise ValueError("must be true or false")
    return text.lower() in _YES


def _region(text: str) -> str:
    if not _REGION.fullmatch(text):
        raise ValueError("must be a region name such as us-east-1")
    return text


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _path(text: str) -> Path:
    return Path(_not_empty(text))


def _engine(text: str) -> str:
    if text != "sqlite" and not text.startswith(_POSTGRES_URLS):
        raise ValueError("must be sqlite or a URL that begins with postgresql://")
    return text


def is_url(location: str) -> bool:
    """Whether a location is the URL of something elsewhere and not a path on this machine."""
    return "://" in location


def _folder_or_endpoint(text: str) -> str:
    if is_url(text) and not _ENDPOINT.fullmatch(text):
        raise ValueError("must be a folder, or a URL that begins with http:// or https://")
    return _not_empty(text)


def _folder_or_bucket(text: str) -> str:
    if is_url(text) and not _BUCKET.fullmatch(text):
        raise ValueError("must be a folder, or a bucket such as s3://bucket/prefix")
    return _not_empty(text)


def _urls(text: str) -> tuple[str, ...]:
    # A URL may have commas of its own, between its hosts.
    urls = tuple(re.split(r",(?=postgres(?:ql)?://)", text)) if text else ()
    if not all(url.startswith(_POSTGRES_URLS) for url in urls):
        raise ValueError("must be URLs that begin with postgresql://")
    return urls


def _texts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _kms_endpoint(text: str) -> str:
    match = _KMS_ENDPOINT.fullmatch(text)
    if match is None:
        raise ValueError("must be a URL such as https://kms.eu-west-1.amazonaws.com, without a path")
    if match[1] == "http" and not is_loopback(match[2].strip("[]")):
        raise ValueError("keys would be sent in the clear: http:// is for services on this machine")
    return text.rstrip("/")


def _setting(default: Any, parse: Callable[[str], Any], description: str, *, repeatable: bool = False) -> Any:
    """Describe a setting; the flag of a repeatable one may be given several times, or once with commas."""
    return field(
        default=default, metadata={"parse": parse, "description": description, "repeatable": repeatable}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of `hashrange serve`. A field's name is its flag and its environment variable."""

    host: str = _setting("127.0.0.1", _not_empty, "address to listen on")
    port: int = _setting(8000, _whole_number(0, 65535), "port to listen on; 0 picks a free one")
    auth: str = _setting(
        "off",
        _one_of(*AUTH_MODES),
        "who may ask: off for anybody, signature for whoever has signed with a known key, iam for whoever policies "
        "allow it as well; where other machines can connect, off has to be written out",
    )
    auth_debug: bool = _setting(
        False, _switch, "write the canonical request of every signature that does not match to the log"
    )
    public_metrics: bool = _setting(
        False,
        _switch,
        "let anybody read /metrics, whatever --auth says: Prometheus does not sign its requests",
    )
    failed_signatures: int = _setting(
        10,
        _whole_number(0, 1_000_000),
        "refused signatures per second and address, ten times as many at once, before its requests are put off; "
        "0 for any number",
    )
    oidc_issuer: str | None = _setting(
        None,
        issuer,
        "identity provider whose tokens AssumeRoleWithWebIdentity takes: the URL that they name as issuer",
    )
    oidc_audience: tuple[str, ...] = _setting(
        (),
        _texts,
        "whom tokens of --oidc-issuer must be made for: the client ids that the provider knows",
        repeatable=True,
    )
    oidc_jwks: Path | None = _setting(
        None,
        _path,
        "file with the keys that --oidc-issuer signs with, a JSON Web Key Set; it is read again when it changes",
    )
    cors_origin: tuple[str, ...] = _setting(
        (),
        origins,
        "web pages that may use the server beside those of this machine, such as https://app.example.org; * for all",
        repeatable=True,
    )
    allowed_host: tuple[str, ...] = _setting(
        (),
        host_names,
        "names the server answers to beside its own, such as db.example.org; * for all",
        repeatable=True,
    )
    tls_cert: Path | None = _setting(
        None,
        _path,
        "speak TLS, with the certificates in this file: the server's own, then those between it and its root",
    )
    tls_key: Path | None = _setting(
        None, _path, "the private key of the certificate; only its owner may read the file"
    )
    tls_key_password_file: Path | None = _setting(
        None, _path, "a file whose first line is the password of an encrypted private key"
    )
    tls_client_ca: Path | None = _setting(
        None, _path, "clients must show a certificate of the authorities in this file"
    )
    tls_redirect_port: int = _setting(
        0, _whole_number(0, 65535), "another port, where plain HTTP is redirected to TLS; 0 for none"
    )
    data_dir: Path = _setting(_DATA_DIR, _path, "where the data lives")
    in_memory: bool = _setting(False, _switch, "keep everything in memory and forget it at the end")
    engine: str = _setting(
        "sqlite", _engine, "what keeps the data: sqlite, or the postgresql:// URL of a database to share"
    )
    replica: tuple[str, ...] = _setting(
        (), _urls, "postgresql:// URLs, by commas, of replicas that answer eventually consistent reads"
    )
    replica_staleness_ms: int = _setting(
        1000, _whole_number(100, 3_600_000), "replicas that are further behind are not read, in milliseconds"
    )
    postgres_isolation: str = _setting(
        "locking",
        _one_of("locking", "serializable"),
        "what keeps writes on PostgreSQL apart: locking, or serializable for the database's own SERIALIZABLE",
    )
    root_key: str = _setting(
        "",
        _root_key,
        "the key above all others: file:PATH, env:NAME, command:COMMAND or kms:PATH. Data that is begun with it is "
        "encrypted; without it secrets are sealed with the file root.key in the data directory, which is made when it "
        "is needed",
    )
    allow_plain_rows: bool = _setting(
        False,
        _switch,
        "serve data that was begun without --root-key although one is named, with --auth signature or iam as well",
    )
    kms_endpoint: str | None = _setting(
        None,
        _kms_endpoint,
        "another key service, AWS KMS or one that speaks as it does: keys that tables name are keys of that one; needs "
        "--root-key",
    )
    kms_region: str | None = _setting(
        None, _region, "region that requests to --kms-endpoint are signed for; else AWS_REGION, else --region"
    )
    data_key_cache: int = _setting(
        300,
        _duration(_DAY_SECONDS),
        "how long servers keep the unwrapped key of a table, and with it go on after the key above was disabled",
    )
    encrypt_pages: bool = _setting(
        False,
        _switch,
        "encrypt the whole data file of new data, too, which hides keys and names; needs --root-key and apsw-sqlite3mc",
    )
    s3: str = _setting(
        "",
        _folder_or_endpoint,
        "where buckets are: a folder of directories, or the URL of an S3-compatible endpoint; "
        "without it the folder buckets in the data directory",
    )
    backups: str = _setting(
        "",
        _folder_or_bucket,
        "where backups are kept: a folder, or s3://bucket/prefix in the store of --s3; without it the folder backups "
        "in the data directory",
    )
    region: str = _setting("us-east-1", _region, "the region of callers that name none")
    log_level: str = _setting("info", _one_of(*logs.LEVELS), f"one of {', '.join(logs.LEVELS)}")
    log_format: str = _setting("text", _one_of(*logs.FORMATS), "text for people, json for machines")
    transition_ms: int = _setting(
        1, _whole_number(0, 3_600_000), "how long CREATING, UPDATING and DELETING last, in milliseconds"
    )
    ttl_lag: int = _setting(
        0,
        _duration(30 * _DAY_SECONDS),
        "how long after its expiry an item is deleted, such as 30s or, as the service may take, 48h",
    )
    ttl_cooldown: int = _setting(
        0,
        _duration(_DAY_SECONDS),
        "how long after a change of a table's TTL the next one is refused; the service's is 31m",
    )
    resource_policy_cooldown: int = _setting(
        0,
        _duration(_DAY_SECONDS),
        "how long after a change of a resource policy the next one is refused; the service's is 15s",
    )
    test_clock: bool = _setting(
        False, _switch, "let `hashrange clock` move the server's time ahead, for tests of TTL and retention"
    )
    capacity: str = _setting(
        "meter",
        _one_of("off", "meter", "enforce"),
        "what becomes of capacity: off, meter to count and show it, enforce to refuse requests beyond it as well; "
        "a table's tag hashrange:capacity goes before",
    )
    chaos: bool = _setting(
        False, _switch, "let `hashrange chaos` inject throttles, delays, conflicts and internal errors"
    )
    eventual_lag: int = _setting(
        0,
        _whole_number(0, LAG_MS_MAX),
        "how far behind eventually consistent reads and reads of global indexes are, in milliseconds",
    )
    test_kit: bool = _setting(
        False,
        _switch,
        "for test suites: access keys of twelve digits are accounts of their own, and requests are recorded; needs "
        "--in-memory and an address of this machine",
    )
    stream_shard_hours: int = _setting(
        4, _whole_number(1, 24), "age at which a shard of a stream is followed by another one, in hours"
    )
    workers: int = _setting(
        1, _whole_number(1, 64), "processes that share the port and the data; one per core is a good number"
    )
    cache_mb: int = _setting(
        0,
        _whole_number(0, 1024**2),
        "memory for rows and pages of the data file that are kept at hand, in MB, for all workers together; "
        "0 for a sixteenth of the machine's memory, but 64 to 640",
    )
    max_body_bytes: int = _setting(
        16 * 1024 * 1024, _whole_number(1024, 1024**3), "largest request body that is read, in bytes"
    )

    audit_log: str = _setting(
        "", _not_empty, "file of the audit log, one JSON object a line; - for standard output"
    )
    audit_events: str = _setting(
        "all",
        _one_of("all", "management"),
        "what the audit log has: all events, or management only: no reads and writes of items",
    )
    audit_keys: str = _setting(
        "plain",
        _one_of("plain", "hashed", "redacted"),
        "how the audit log shows keys of items: plain, hashed with a secret of the log, or redacted",
    )
    audit_rotate_bytes: int = _setting(
        100 * 1024 * 1024, _whole_number(1024, 1024**4), "size at which the audit log begins another file"
    )
    audit_rotate_hours: int = _setting(
        24, _whole_number(1, 24 * 366), "age at which the audit log begins another file, in hours"
    )

    @property
    def reloads(self) -> bool:
        """Whether there is anything that SIGHUP has the server load again; otherwise it ends the server as ever."""
        return self.tls_cert is not None or bool(self.audit_target)

    @property
    def audit_target(self) -> str:
        """Where events go: with identities those about tables, settings and identities have a file in any case."""
        if self.audit_log or self.auth == "off" or self.in_memory:
            return self.audit_log
        return str(self.data_dir / AUDIT_FILE_NAME)

    @property
    def lag_ms_max(self) -> int:
        """How far behind reads can be; test suites say so while the server runs."""
        return LAG_MS_MAX if self.test_kit else self.eventual_lag

    @property
    def audits_data(self) -> bool:
        """Whether reads and writes of items are events too."""
        return bool(self.audit_log) and self.audit_events == "all"


class _Joined(argparse.Action):
    """A flag that is given several times is one value with commas, as its environment variable has it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest, "")
        setattr(namespace, self.dest, f"{before},{values}" if before else values)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser one flag per setting; a flag that is not used is missing in the result."""
    for setting in fields(Settings):
        flag = "--" + setting.name.replace("_", "-")
        variable = environment_variable(setting.name)
        default = setting.default if setting.default not in ((), "", None) else "none"
        text = f"{setting.metadata['description']} (default: {default}; {variable})"
        if setting.metadata["parse"] is _switch:
            parser.add_argument(
                flag,
                dest=setting.name,
                action="store_const",
                const="true",
                default=argparse.SUPPRESS,
                help=text,
            )
        else:
            parser.add_argument(
                flag,
                dest=setting.name,
                metavar="VALUE",
                action=_Joined if setting.metadata["repeatable"] else "store",
                default=argparse.SUPPRESS,
                help=text,
            )


def environment_variable(name: str) -> str:
    """Name the environment variable of a setting."""
    return ENVIRONMENT_PREFIX + name.upper()


def load(flags: Mapping[str, str], environment: Mapping[str, str]) -> Settings:
    """Build the settings from flags and environment; a flag wins over its environment variable."""
    values: dict[str, Any] = {}
    for setting in fields(Settings):
        variable = environment_variable(setting.name)
        if setting.name in flags:
            label, text = "--" + setting.name.replace("_", "-"), flags[setting.name]
        elif variable in environment:
            label, text = variable, environment[variable]
        else:
            continue
        try:
            values[setting.name] = setting.metadata["parse"](text)
        except ValueError as error:
            # Who forgets the word before the colon has written the key itself.
            shown = "what is given" if setting.name == "root_key" else repr(masked_place(text))
            raise SettingInvalid(f"{label}: {shown} is not valid: {error}") from None
    settings = Settings(**values)
    if "auth" not in values and not binds_loopback(settings.host):
        raise SettingInvalid(
            f"other machines can connect to {settings.host}, and requests would not be authenticated: whoever reaches "
            "the port could read, change and delete everything. --auth signature or --auth iam asks for signed "
            "requests; --auth off, written out, lets anybody in"
        )
    if settings.in_memory and settings.workers > 1:
        raise SettingInvalid(
            "several workers need a data file to share: --workers does not go with --in-memory"
        )
    if settings.in_memory and settings.engine != "sqlite":
        raise SettingInvalid(
            "data that is kept elsewhere is not forgotten: --engine does not go with --in-memory"
        )
    if settings.in_memory and settings.auth != "off":
        raise SettingInvalid(
            "access keys are kept with the data, and nobody would have one: --auth does not go with --in-memory"
        )
    if is_url(settings.s3) and find_spec("botocore") is None:
        raise SettingInvalid("an S3 endpoint needs its client: pip install 'hashrange[s3]'")
    if settings.kms_endpoint and not settings.root_key:
        raise SettingInvalid(
            "without a root key nothing would be encrypted under the keys of --kms-endpoint: it needs --root-key"
        )
    if settings.replica and settings.engine == "sqlite":
        raise SettingInvalid("a data file has no replicas: --replica needs a postgresql:// URL as --engine")
    _check_test_kit(settings)
    _check_tls(settings)
    _check_oidc(settings)
    return settings


def _check_test_kit(settings: Settings) -> None:
    if settings.test_kit and not (settings.in_memory and binds_loopback(settings.host)):
        raise SettingInvalid(
            "whoever reaches a server for tests can delete everything: --test-kit needs --in-memory, and a --host that "
            "other machines cannot connect to"
        )


def _check_oidc(settings: Settings) -> None:
    named = (settings.oidc_issuer is not None, bool(settings.oidc_audience), settings.oidc_jwks is not None)
    if any(named) and not all(named):
        raise SettingInvalid(
            "an identity provider needs all of --oidc-issuer, --oidc-audience and --oidc-jwks"
        )


def _check_tls(settings: Settings) -> None:
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise SettingInvalid("TLS needs a certificate and its key: --tls-cert goes with --tls-key")
    if settings.tls_cert is None and (
        settings.tls_client_ca or settings.tls_key_password_file or settings.tls_redirect_port
    ):
        raise SettingInvalid("there is no TLS without a certificate: --tls-cert and --tls-key are missing")
