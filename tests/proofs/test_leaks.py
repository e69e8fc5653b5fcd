"""A short run of the search for leaks; the long one is ``python -m tests.proofs.leaks``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.proofs.leaks import run
from tests.proofs.roles import KINDS

if TYPE_CHECKING:
    from tests.conftest import PgServer


def test_hidden_documents_are_neither_shown_nor_felt(pg_server: PgServer, template: str) -> None:
    report = run(pg_server, template, trials=140, seed=2, a_twin=20)
    assert not report.forbidden, report
    assert not report.interference, report
    assert report.trials == 140
    assert report.kinds.keys() == set(KINDS)
    assert report.rows > 300, "the searches find something"
    assert report.compared_exactly > 70
