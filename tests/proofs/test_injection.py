"""A short run of the attack on arguments and settings; the long one is ``python -m tests.proofs.injection``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.proofs.injection import run

if TYPE_CHECKING:
    from tests.conftest import PgServer


def test_nothing_but_typed_errors_and_allowed_rows(pg_server: PgServer, template: str) -> None:
    tally = run(pg_server, template, examples=300, seed=1)
    assert tally.examples >= 300
    assert tally.rows > 100, "valid values are frequent enough to find something"
    assert tally.outcomes["written"] > 10
    assert tally.checks > 3
