"""What the core raises: which errors a member of a transaction answers for, and which the whole request."""

import pytest

from hashrange.core.errors import EmptyKeyValue, Invalid, Refused, RequestInvalid


@pytest.mark.parametrize("kind", [Invalid, RequestInvalid, EmptyKeyValue])
def test_every_refusal_carries_the_words_of_the_service(kind: type[Refused]) -> None:
    with pytest.raises(Refused, match="no such thing") as refused:
        raise kind("no such thing")
    assert refused.value.message == "no such thing"


def test_catching_what_one_member_did_wrong_lets_an_empty_key_pass() -> None:
    assert not issubclass(EmptyKeyValue, Invalid)
