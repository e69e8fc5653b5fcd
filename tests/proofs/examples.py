"""Calls with hostile arguments: into the search functions, through ``Client.search``, into the functions that write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.proofs import nasty
from tests.proofs.nasty import Values
from tests.sql.helpers import Row

Arguments = Mapping[str, Values]

COMMON = {"p_collection": nasty.COLLECTION, "p_query": nasty.QUERY, "p_k": nasty.whole(1, 3, 10, 50)}
FILTERING = {
    "p_expand": nasty.EXPAND,
    "p_index_version": nasty.whole(1),
    "p_filter": nasty.FILTER,
    "p_chunk_filter": nasty.FILTER,
}
FUSING = {
    "p_candidate_k": nasty.whole(5, 50),
    "p_rrf_k": nasty.whole(0, 60),
    "p_vector_weight": nasty.WEIGHT,
    "p_keyword_weight": nasty.WEIGHT,
    "p_fusion": nasty.FUSION,
    "p_feedback": nasty.whole(0, 3),
    "p_embedding": nasty.VECTOR,
    "p_idf": nasty.IDF,
}
# function → what it is always given, what at times
SEARCHES: dict[str, tuple[Arguments, Arguments]] = {
    "search_keyword": (COMMON, {**FILTERING, "p_idf": nasty.IDF}),
    "search_vector": ({**COMMON, "p_embedding": nasty.VECTOR}, FILTERING),
    "search_hybrid": (COMMON, FILTERING | FUSING),
    "explain_search": (
        COMMON,
        {name: values for name, values in (FILTERING | FUSING).items() if name != "p_expand"}
        | {"p_mode": nasty.MODE},
    ),
}
WHO: Arguments = {"p_principals": nasty.PRINCIPALS, "p_tenant_id": nasty.TENANT}
SESSION: Arguments = {"principals": nasty.SETTING, "tenant": nasty.TENANT}
DOCUMENT: Arguments = {
    "p_collection": nasty.COLLECTION,
    "p_external_id": nasty.EXTERNAL_ID,
    "p_tenant_id": nasty.TENANT,
}
WRITES: dict[str, tuple[Arguments, Arguments]] = {
    "upsert_document": (
        {**DOCUMENT, "p_content": nasty.QUERY, "p_title": nasty.QUERY},
        {"p_language": nasty.LANGUAGE, "p_metadata": nasty.METADATA, "p_acl": nasty.PRINCIPALS},
    ),
    "set_acl": ({**DOCUMENT, "p_acl": nasty.PRINCIPALS}, {}),
    "delete_document": (DOCUMENT, {}),
    "create_collection": ({"p_name": nasty.texts("c", "new"), "p_language": nasty.LANGUAGE}, {}),
    "drop_collection": ({"p_name": nasty.COLLECTION}, {}),
    "grant_access": (
        {"p_role": nasty.ROLE, "p_level": nasty.LEVEL},
        {"p_principals": nasty.PRINCIPALS, "p_tenant_id": nasty.TENANT},
    ),
    "revoke_access": ({"p_role": nasty.ROLE}, {}),
}
CASTS = {
    "p_k": "int",
    "p_candidate_k": "int",
    "p_rrf_k": "int",
    "p_feedback": "int",
    "p_index_version": "bigint",
    "p_vector_weight": "float8",
    "p_keyword_weight": "float8",
    "p_principals": "text[]",
    "p_acl": "text[]",
    "p_metadata": "jsonb",
}


@dataclass(frozen=True)
class Example:
    """One call: who makes it, with which settings, and what its filter means in Python."""

    role: str
    function: str
    arguments: Row
    settings: Row
    condition: Any = None

    @property
    def statement(self) -> bytes:
        """The call, with named parameters for psycopg."""
        named = ", ".join(
            f"{name} => %({name})s" + (f"::{CASTS[name]}" if name in CASTS else "") for name in self.arguments
        )
        return f"select * from ragpg.{self.function}({named})".encode()


def some(draw: st.DrawFn, always: Arguments, at_times: Arguments) -> Row:
    """Draw arguments; at most two of them are hostile."""
    chosen = dict(always) | {name: at_times[name] for name in at_times if draw(st.integers(0, 3)) == 0}
    hostile = draw(st.lists(st.sampled_from(list(chosen)), max_size=2))
    return {
        name: draw(values.hostile if name in hostile else values.valid) for name, values in chosen.items()
    }


def with_condition(arguments: Row, *names: str) -> tuple[Row, Any]:
    """Take the texts of filters apart from what they mean; the first name is the document's filter."""
    conditions = {name: arguments[name][1] for name in names if name in arguments}
    texts = {name: arguments[name][0] for name in conditions}
    return arguments | texts, conditions.get(names[0])


@st.composite
def searches(draw: st.DrawFn) -> Example:
    """A call of a search function, by a role that may say who is asking or not."""
    role = draw(st.sampled_from(["reader", "bound", "server"]))
    function = draw(st.sampled_from([*SEARCHES, "search_hybrid"]))
    always, at_times = SEARCHES[function]
    if role == "server" or draw(st.integers(0, 19)) == 0:
        always = {**always, **WHO}
    arguments = some(draw, {**always, **SESSION}, at_times)
    settings = {name: arguments.pop(name) for name in SESSION}
    arguments, condition = with_condition(arguments, "p_filter", "p_chunk_filter")
    return Example(role, function, arguments, settings, condition)


@st.composite
def client_searches(draw: st.DrawFn) -> Example:
    """The arguments of ``Client.search``."""
    always, at_times = SEARCHES["search_hybrid"]
    at_times = {name: values for name, values in at_times.items() if name != "p_embedding"} | {
        "p_mode": nasty.MODE
    }
    given = some(draw, {**always, **WHO}, at_times)
    arguments, condition = with_condition(
        {name.removeprefix("p_"): value for name, value in given.items()}, "filter", "chunk_filter"
    )
    return Example(
        draw(st.sampled_from(["server", "server", "server", "reader"])), "search", arguments, {}, condition
    )


@st.composite
def writes(draw: st.DrawFn) -> Example:
    """A call of a function that writes, by the owner."""
    function = draw(st.sampled_from(list(WRITES)))
    return Example("owner", function, some(draw, *WRITES[function]), {})
