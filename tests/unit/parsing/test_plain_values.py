from datetime import UTC, date, datetime
from typing import Any

import pytest

from ragpg.parsing.plain_values import plain_mapping


@pytest.mark.parametrize("repair", [True, False])
def test_json_values_stay_and_dates_sets_and_keys_become_plain(repair: bool) -> None:
    values = {
        "a": [1, 2.5, True, None, "é"],
        2026: (date(2026, 1, 31), datetime(2026, 1, 31, 9, tzinfo=UTC)),
        "s": {"x"},
    }
    assert plain_mapping(values, "metadata", repair=repair) == {
        "a": [1, 2.5, True, None, "é"],
        "2026": ["2026-01-31", "2026-01-31T09:00:00+00:00"],
        "s": ["x"],
    }


@pytest.mark.parametrize(
    ("value", "repaired"),
    [(float("nan"), "nan"), (float("-inf"), "-inf"), ("a\0b\ud800c", "abc"), (3j, "3j"), (b"x", "b'x'")],
)
def test_what_json_can_not_hold_is_repaired_or_refused(value: Any, repaired: str) -> None:
    assert plain_mapping({"k": [value]}, "metadata", repair=True) == {"k": [repaired]}
    with pytest.raises(ValueError, match=r"metadata\.k holds"):
        plain_mapping({"k": [value]}, "metadata", repair=False)


@pytest.mark.parametrize("repair", [True, False])
def test_values_that_never_end_are_refused(repair: bool) -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    bomb: Any = "x"
    for _ in range(20):
        bomb = [bomb, bomb]
    for value in (loop, {"bomb": bomb}):
        with pytest.raises(ValueError, match="metadata holds too many"):
            plain_mapping(value, "metadata", repair=repair)
