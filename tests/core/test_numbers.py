"""Numbers: canonical text, refusals, arithmetic against `decimal`, size, and bytes that sort by value."""

from decimal import Context, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.core import numbers
from hashrange.core.errors import Invalid, RequestInvalid

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
DIGITS = "Attempting to store more than 38 significant digits in a Number"
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"

EXACT = Context(prec=400)


@st.composite
def legal_decimals(draw: st.DrawFn) -> Decimal:
    """Any number the service can store."""
    digits = str(draw(st.integers(1, 10 ** draw(st.integers(1, 38)) - 1)))
    magnitude = draw(st.integers(-130, 125))
    sign = draw(st.sampled_from(("", "-")))
    return Decimal(f"{sign}{digits}E{magnitude - len(digits) + 1}")


numbers_of_all_kinds = st.one_of(legal_decimals(), st.just(Decimal(0)))


def canonical(value: Decimal) -> str:
    return numbers.canonical(str(value))


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("+0", "0"),
        ("0.000", "0"),
        ("00042", "42"),
        ("+42", "42"),
        ("-042.500", "-42.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1.e5", "100000"),
        ("1E3", "1000"),
        ("1e+3", "1000"),
        ("1.50e1", "15"),
        ("120e-3", "0.12"),
        ("1E125", "1" + "0" * 125),
        ("1E-130", "0." + "0" * 129 + "1"),
        ("-1E-130", "-0." + "0" * 129 + "1"),
        ("9" * 38, "9" * 38),
        ("9" * 38 + "E88", "9" * 38 + "0" * 88),
        ("0.1" + "2" * 37, "0.1" + "2" * 37),
        ("1" + "0" * 60, "1" + "0" * 60),
        ("0e125", "0"),
        ("0e-130", "0"),
    ],
)
def test_canonical_text_is_expanded_and_bare(text: str, stored: str) -> None:
    assert numbers.canonical(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " 1",
        "1 ",
        "1\n",
        "b",
        "1_000",
        "0x10",
        "NaN",
        "Infinity",
        "e5",
        ".",
        "-",
        "+-1",
        "--1",
        "1e",
        "1e5.5",
        "1,5",
        "١٢",
        "1e9223372036854775808",
        "1e" + "9" * 5000,
    ],
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(RequestInvalid) as caught:
        numbers.canonical(text)
    assert caught.value.message == f"{NOT_A_NUMBER}: {text}"


def test_coral_drops_the_colon_behind_an_empty_number() -> None:
    with pytest.raises(RequestInvalid) as caught:
        numbers.canonical("", wording="coral")
    assert caught.value.message == NOT_A_NUMBER


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1E126", OVERFLOW),
        ("-1E126", OVERFLOW),
        ("1" + "0" * 126, OVERFLOW),
        ("1E-131", UNDERFLOW),
        ("-1E-131", UNDERFLOW),
        ("0e126", OVERFLOW),
        ("1e2147483647", OVERFLOW),
        ("1e-2147483648", UNDERFLOW),
        ("1e9223372036854775807", OVERFLOW),
        ("9" * 39, DIGITS),
        ("1." + "1" * 38, DIGITS),
        ("1" * 39 + "e100", OVERFLOW),
    ],
)
def test_range_is_checked_before_digits(text: str, message: str) -> None:
    with pytest.raises(RequestInvalid) as caught:
        numbers.canonical(text)
    assert caught.value.message == message


def test_coral_wraps_the_exponent() -> None:
    with pytest.raises(RequestInvalid) as caught:
        numbers.canonical("1e2147483647", wording="coral")
    assert caught.value.message == UNDERFLOW


@given(numbers_of_all_kinds)
def test_canonical_text_keeps_the_value_and_is_its_own_canonical_text(value: Decimal) -> None:
    text = canonical(value)
    assert Decimal(text) == value
    assert numbers.canonical(text) == text


@given(numbers_of_all_kinds, numbers_of_all_kinds)
def test_encoded_order_is_numeric_order(left: Decimal, right: Decimal) -> None:
    first, second = numbers.encode(canonical(left)), numbers.encode(canonical(right))
    assert (first < second) == (left < right)
    assert (first == second) == (left == right)
    assert (numbers.compare(canonical(left), canonical(right)) < 0) == (left < right)


@given(st.integers(-(10**6), 10**6), st.integers(-9, 3), st.integers(-9, 3))
def test_encoded_order_holds_among_close_numbers(whole: int, first: int, second: int) -> None:
    left, right = Decimal(whole).scaleb(first), Decimal(whole + 1).scaleb(second)
    encoded = numbers.encode(canonical(left)), numbers.encode(canonical(right))
    assert (encoded[0] < encoded[1]) == (left < right)


def _expected(exact: Decimal) -> str:
    """What an exact result becomes: its text, or the complaint the service has about it."""
    try:
        return numbers.canonical(format(exact, "f"))
    except RequestInvalid as refused:
        return OVERFLOW if "38 significant digits" in refused.message else refused.message


@settings(max_examples=200)
@given(numbers_of_all_kinds, numbers_of_all_kinds)
def test_arithmetic_is_exact_or_refused(left: Decimal, right: Decimal) -> None:
    for rule, exact in (
        (numbers.add, EXACT.add(left, right)),
        (numbers.subtract, EXACT.subtract(left, right)),
    ):
        try:
            result = rule(canonical(left), canonical(right))
        except Invalid as refused:
            result = refused.message
        assert result == _expected(exact)


def test_sums_at_the_edges() -> None:
    assert numbers.add("0.1", "0.2") == "0.3"
    assert numbers.subtract("5", "5") == "0"
    assert numbers.add("9" * 37, "1") == "1" + "0" * 37
    with pytest.raises(Invalid, match=OVERFLOW):
        numbers.add("1" + "0" * 38, "1")
    with pytest.raises(Invalid, match="overflow") as caught:
        numbers.add("9" + "0" * 125, "9" + "0" * 125)
    assert not isinstance(caught.value, RequestInvalid)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 1),
        ("1", 2),
        ("-1", 3),
        ("12", 2),
        ("123", 3),
        ("123456", 4),
        ("-123456", 5),
        ("100.5", 4),
        ("3.14159", 5),
        ("0.0000001", 2),
        ("0.5", 2),
        ("10", 2),
        ("1" + "0" * 125, 2),
        ("1000000.0000001", 9),
        ("9" * 38, 20),
    ],
)
def test_size_counts_pairs_of_significant_digits(text: str, size: int) -> None:
    assert numbers.size(text) == size
