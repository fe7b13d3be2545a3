"""The tags of alarms."""

import re
from typing import Annotated

from msgspec import Meta

from hashrange.api.cloudwatch import alarms
from hashrange.api.cloudwatch.alarms import Alarm
from hashrange.api.context import Context
from hashrange.services.cloudwatch import errors
from hashrange.storage.engine import Reader

ResourceArn = Annotated[str, Meta(min_length=1, max_length=1024)]
_ARN = re.compile(r"arn:aws[a-z-]*:cloudwatch:([^:]+):([0-9]{12}):alarm:(.{1,255})", re.DOTALL)


def tagged(reader: Reader, context: Context, arn: str) -> Alarm:
    """The alarm of an ARN, which must be one of the caller's."""
    match = _ARN.fullmatch(arn)
    if match is None:
        raise errors.invalid_value(f"The value {arn} for parameter ResourceARN is invalid.")
    place = alarms.place_of(context)
    is_own = (match[2], match[1]) == place
    alarm = alarms.ALARMS.find(reader, place, match[3]) if is_own else None
    if alarm is None:
        raise errors.no_such_resource(arn)
    return alarm
