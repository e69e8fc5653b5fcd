"""What gets typed, pasted and injected, beside what was meant: of most arguments an example has a valid value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.proofs.roles import array_literal
from tests.proofs.searches import BAD_FILTERS, FILTERS

QUOTES = (
    "'",
    "''",
    '"',
    "\\",
    "\\'",
    "' or 1=1 --",
    "'; drop schema ragpg cascade; --",
    "'); delete from ragpg.document; --",
    "$$; select 1; $$",
    "%s",
    "%(p_query)s",
    "%",
    "%I",
    "{}",
    "{a,b}",
    '{"a"',
    "{",
    "}",
    "*",
    "{*}",
    "public",
    "null",
    "NULL",
    "\x00",
    "a\x00b",
    "\x01\x1f\x7f",
    "\ud800",
    "a\udfffb",
    "\u202eabc",
    "שלום עולם",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 😀",
    "é́́",
    "\u200b",
    "\ufeff",
    "ﬁ",
    "\r\n\t",
    " ",
    "",
    "-",
    "--",
    "-alkor",
    '"alkor',
    '"" -""',
    "a & b | !c <-> d:*",
    "a:b:c ::text",
    ":name",
    "E'\\x41'",
    "\\x41",
    "x" * 3000,
    "alkor " * 500,
    "'" * 1000,
    "$.a ? (@ > 1)",
    "pg_sleep(10)",
    "東京都",
    "a" + "\u0301" * 200,
)


@dataclass(frozen=True)
class Values:
    """The values that an argument is meant for, and others."""

    valid: st.SearchStrategy[Any]
    hostile: st.SearchStrategy[Any]


def texts(*valid: str) -> Values:
    """Hand-written nasties, alone and around a valid value, and any text; surrogates included, which a driver has to refuse."""
    ordinary = st.sampled_from(valid)
    nasty = st.sampled_from(QUOTES)
    glued = st.builds(lambda one, two, three: one + two + three, nasty, ordinary, nasty)
    return Values(
        ordinary,
        st.one_of(nasty, glued, st.text(max_size=20), st.text(st.characters(codec=None), max_size=20)),
    )


def whole(*valid: int) -> Values:
    """Numbers at the edges of their range and of their type."""
    edges = [0, -1, 1000, 1001, 2**31 - 1, 2**31, -(2**31), 2**63, 10**30]
    return Values(st.sampled_from(valid), st.one_of(st.sampled_from(edges), st.integers()))


def array_text(names: list[str]) -> str:
    """An array literal as a careless program writes it: without quotes."""
    return "{" + ",".join(names) + "}"


PRINCIPAL = texts("user:ana", "group:hr", "group:eng", "public", "user:bo")
HOSTILE_NAMES = st.lists(st.one_of(PRINCIPAL.valid, PRINCIPAL.hostile), max_size=3)
# for an argument: a list, or the raw text of an array
PRINCIPALS = Values(
    st.lists(PRINCIPAL.valid, max_size=3),
    st.one_of(
        HOSTILE_NAMES, HOSTILE_NAMES.map(array_text), HOSTILE_NAMES.map(array_literal), PRINCIPAL.hostile
    ),
)
# for ragpg.principals
SETTING = Values(
    st.one_of(PRINCIPALS.valid.map(",".join), PRINCIPALS.valid.map(array_literal)),
    st.one_of(
        HOSTILE_NAMES.map(",".join),
        HOSTILE_NAMES.map(array_text),
        HOSTILE_NAMES.map(array_literal),
        PRINCIPAL.hostile,
    ),
)
TENANT = texts("", "", "", "acme")
QUERY = texts("alkor", "alkor bentro", 'bentro "alkor"', "cuvat -alkor", "ERR-1042", "Häuser running", "東京")
COLLECTION = texts("c")
EXTERNAL_ID = texts("d1", "d2", "d3", "new")
# a text, and the same condition in Python where it is known to be one
FILTER = Values(
    st.sampled_from(FILTERS),
    st.tuples(
        st.one_of(
            st.sampled_from(BAD_FILTERS),
            texts('$.tag == "red"', "$", "1 == 1", "$.** == 1", "strict $.a.b.c == 1").hostile,
            st.builds(
                lambda key, operator, value: f"$.{key} {operator} {value}",
                st.one_of(
                    st.sampled_from(["n", "year", '"n"', "list[*]", "**", "list[last]", "n.keyvalue()"]),
                    st.text(max_size=5),
                ),
                st.sampled_from(
                    [
                        "==",
                        ">=",
                        "<",
                        "!=",
                        "like_regex",
                        "starts with",
                        "&&",
                        "||",
                        "+",
                        "is unknown",
                        "? (@",
                    ]
                ),
                st.one_of(
                    st.sampled_from(
                        [
                            "1",
                            '"red"',
                            "$.n",
                            '"("',
                            "1e400",
                            "-0",
                            "null",
                            "true",
                            "(1 == 1)",
                            '"(a+)+$" flag "q"',
                            '"a" flag "x"',
                            '"a" flag "y"',
                        ]
                    ),
                    st.text(max_size=8),
                ),
            ),
        ),
        st.none(),
    ),
)
WEIGHT = Values(
    st.sampled_from([1.0, 0.7, 2.5]),
    st.one_of(
        st.sampled_from([float("nan"), float("inf"), float("-inf"), -1.0, 1e-320, 1e-100, 1e6, 1e308, -0.0]),
        st.floats(),
    ),
)
VECTOR = Values(
    st.lists(st.integers(-8, 8).map(lambda number: number / 4), min_size=4, max_size=4)
    .filter(any)
    .map(lambda numbers: "[" + ",".join(map(str, numbers)) + "]"),
    st.one_of(
        st.sampled_from(
            [
                "[0,0,0,0]",
                "[1,2,3]",
                "[]",
                "[NaN,1,1,1]",
                "[1e39,0,0,0]",
                "[1e30,1,1,1]",
                "[1,2,3,4",
                "[1e-45,0,0,0]",
            ]
        ),
        st.lists(st.floats(), min_size=1, max_size=5).map(str),
        texts("[1,0,0,0]").hostile,
    ),
)
EXPAND = texts("parent", "document", "neighbors:1", "neighbors:999")
FUSION = texts("rrf", "score")
IDF = texts("corpus", "visible")
MODE = texts("hybrid", "keyword", "vector")
LANGUAGE = texts("english", "german")
METADATA = texts("{}", '{"n": 1}')
ROLE = texts("proof_reader", "proof_bound", "proof_server")
LEVEL = texts("reader", "writer", "trusted_reader")
