"""What the models of all tables share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Double,
    Integer,
    MetaData,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, TIMESTAMP
from sqlalchemy.dialects.postgresql.base import ischema_names  # pyright: ignore[reportUnknownVariableType]
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.types import UserDefinedType

SCHEMA = "ragpg"

NOW = text("now()")
EMPTY_OBJECT = text("'{}'::jsonb")
EMPTY_ARRAY = text("'{}'::text[]")


class REGROLE(UserDefinedType[str]):
    """A role by its oid, written as its name: it follows a role that is renamed, and a dump holds the name."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Return the type's name in DDL."""
        return "REGROLE"


# SQLAlchemy doesn't know the type when it reads a schema
ischema_names["regrole"] = REGROLE


class Base(DeclarativeBase):
    """Declarative base of the models, with its own metadata so that a host application's stays untouched."""

    metadata = MetaData(schema=SCHEMA)
    type_annotation_map = {  # noqa: RUF012
        int: BigInteger,
        str: Text,
        float: Double,
        bytes: BYTEA,
        datetime: TIMESTAMP(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        list[str]: ARRAY(Text),
    }


def integer(comment: str, default: str | None = None) -> Any:
    """A plain 32-bit ``integer`` column."""
    return mapped_column(Integer, server_default=text(default) if default else None, comment=comment)
