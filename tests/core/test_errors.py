"""What the core raises: which errors a member of a transaction answers for, and which the whole request."""

import gc
import weakref

import pytest

from hashrange.core.effort import Postponed
from hashrange.core.errors import EmptyKeyValue, Invalid, Refused, RequestInvalid, forget_frames


@pytest.mark.parametrize("kind", [Invalid, RequestInvalid, EmptyKeyValue])
def test_every_refusal_carries_the_words_of_the_service(kind: type[Refused]) -> None:
    with pytest.raises(Refused, match="no such thing") as refused:
        raise kind("no such thing")
    assert refused.value.message == "no such thing"


def test_catching_what_one_member_did_wrong_lets_an_empty_key_pass() -> None:
    assert not issubclass(EmptyKeyValue, Invalid)


class Large:
    """Stands for a request."""


def raised(error: Exception, large: Large) -> Exception:
    """The error, raised by a function that has something large while it handled another error."""
    try:
        try:
            raise Postponed  # noqa: TRY301 - likewise
        except Postponed:
            raise error  # noqa: B904 - the context is what matters
    except Exception as caught:  # noqa: BLE001 - any kind is asked for
        assert type(large) is Large
        return caught


def test_an_expected_error_lets_go_what_the_code_had_that_raised_it() -> None:
    gc.disable()
    try:
        large = Large()
        alive = weakref.ref(large)
        error = raised(Invalid("no"), large)
        del large
        assert alive() is not None
        forget_frames(error)
        assert alive() is None
        assert error.__context__ is None
    finally:
        gc.enable()


def test_a_failure_keeps_its_traceback_for_the_log() -> None:
    error = raised(ZeroDivisionError(), Large())
    forget_frames(error)
    assert error.__traceback__ is not None
