from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from ragpg.db.rows import DocumentState
from ragpg.errors import ParseError
from ragpg.ingest.attributes import Attributes, Defaults, file_attributes, given_attributes
from ragpg.parsing import parse
from ragpg.types import ParsedDocument


def parsed(media_type: str = "text/markdown", content: str = "text", **metadata: Any) -> ParsedDocument:
    return ParsedDocument(content, title="From the text", media_type=media_type, metadata=metadata)


def of_file(document: ParsedDocument, **manifest: Any) -> Attributes:
    return file_attributes(document, "a.md", uri="file:///a.md", manifest=Defaults(**manifest))


def test_front_matter_wins_over_manifests_and_arguments() -> None:
    document = parsed(
        title="Front",
        acl=["group:hr"],
        language="german",
        tenant="acme",
        expires="2027-01-31",
        metadata={"team": "hr"},
        year=2026,
    )
    found = of_file(
        document,
        title="Manifest",
        acl=("public",),
        language="english",
        tenant_id="x",
        metadata={"team": "all", "a": 1},
    )
    assert found == Attributes(
        title="Front",
        uri="file:///a.md",
        media_type="text/markdown",
        language="german",
        metadata={"team": "hr", "a": 1, "year": 2026},
        acl=("group:hr",),
        tenant_id="acme",
        expires_at=datetime(2027, 1, 31, tzinfo=UTC),
    )


def test_a_file_that_says_nothing_has_the_manifests_and_the_texts_title() -> None:
    assert of_file(parsed(), acl=("group:x",)).acl == ("group:x",)
    assert of_file(parsed()).title == "From the text"
    assert of_file(parsed(), title="Manifest").title == "Manifest"
    assert of_file(parsed()).acl is None


def test_an_empty_acl_is_not_the_same_as_none() -> None:
    assert of_file(parsed(acl=[]), acl=("public",)).acl == ()


def test_only_markdown_gives_permissions() -> None:
    found = of_file(parsed("text/html", acl=["public"], tenant="other", author="Ann"), acl=("group:x",))
    assert (found.acl, found.tenant_id) == (("group:x",), None)
    assert found.metadata == {"acl": ["public"], "tenant": "other", "author": "Ann"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"acl": "group:hr"}, "acl is a list"),
        ({"acl": [{"group": "hr"}]}, "no principal"),
        ({"acl": ["*"]}, "acl can't hold"),
        ({"acl": None}, "acl has no value"),
        ({"tenant": None}, "tenant has no value"),
        ({"expires": None}, "expires has no value"),
        ({"ACL": ["group:hr"]}, "'ACL' must be written 'acl'"),
        ({"Tenant": "x"}, "'Tenant' must be written 'tenant'"),
        ({"Expires ": "2027-01-01"}, "'Expires ' must be written 'expires'"),
        ({"metadata": {"acl": ["group:hr"]}}, "put acl beside metadata"),
        ({"metadata": {"ACL": ["group:hr"]}}, "put acl beside metadata"),
        ({"tenant": 5}, "put it in quotes"),
        ({"expires": "soon"}, "expires is an ISO date"),
        ({"metadata": [1]}, "metadata"),
        ({"tenant": ["x"]}, "tenant is a text"),
        ({"title": {"x": 1}}, "title is a text"),
    ],
)
def test_unusable_front_matter_is_refused_by_name(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        of_file(parsed(**values))
    assert "a.md" in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        "---\ntitle: x\nacl: [group:hr\n---\ntext",
        "---\n\tacl: [group:secret]\n---\ntext",
        "---\nacl: [group:secret]\n\n# T\n",
        "\n---\nacl: [group:secret]\n---\ntext",
        "  ---\nacl: [group:secret]\n---\ntext",
        "\t\n\u200b---\nacl: [group:secret]\n---\ntext",
        "----\nacl: [group:secret]\n----\ntext",
        "--- # who may read\nacl: [group:secret]\n---\ntext",
        "--\nacl: [group:secret]\n--\ntext",
        "+++\nacl = ['group:secret']\n+++\ntext",
        "---\r\n\tACL: [group:secret]\r\n---\r\ntext",
        "---\n\t'Tenant' : acme\n---\ntext",
        '---\n\t"expires": 2027-01-01\n---\ntext',
        "---\n- acl: [group:secret]\n---\ntext",
        "---\n{title: x, acl: [group:secret]\n---\ntext",
        "---\n" + "a: [\n" * 60 + "acl: [group:secret]\n---\ntext",
        "---\nacl: [group:secret]\nacl: [public]\n---\ntext",
        "---\nacl: [group:secret]\nACL: [public]\n---\ntext",
        "---\nacl:\n---\ntext",
        "---\nmetadata: {acl: [group:secret]}\n---\ntext",
    ],
)
def test_front_matter_that_means_to_restrict_is_never_passed_over(source: str) -> None:
    document = parse(source.encode(), name="a.md")
    with pytest.raises(ParseError, match=r"a\.md.*(acl|ACL|Tenant|expires)"):
        of_file(document)
    with pytest.raises(ParseError):
        given_attributes(document, "a.md", uri=None, arguments=Defaults())


@pytest.mark.parametrize(
    "source",
    [
        "---\n\nA rule, then text on acl: and no second rule",
        "---\nsome: [text\n---\ntext",
        "# Keys\n\nacl: who may read\n",
        "- acl: who may read\n- tenant: whose it is\n",
        "---\n\nProse after a rule.\n\n---\n" + "More.\n" * 60 + "acl: explained\n",
        "---\ntitle: x\n---\n\nacl: explained in the text\n",
    ],
)
def test_prose_that_speaks_of_permissions_is_no_front_matter(source: str) -> None:
    assert of_file(parse(source.encode(), name="a.md")).acl is None


def test_for_a_given_text_the_arguments_win_and_name_the_tenant_alone() -> None:
    document = parsed(title="Front", acl=["public"], tenant="other", team="x", year=1)
    found = given_attributes(
        document,
        "a.md",
        uri=None,
        arguments=Defaults(acl=("group:hr",), title="Mine", metadata={"team": "y"}, tenant_id="acme"),
    )
    assert (found.acl, found.title, found.tenant_id) == (("group:hr",), "Mine", "acme")
    assert found.metadata == {"team": "y", "year": 1}
    silent = given_attributes(document, "a.md", uri=None, arguments=Defaults())
    assert (silent.acl, silent.title, silent.tenant_id) == (("public",), "Front", None)


STATE = DocumentState(
    "a.md", uuid4(), b"", "T", "u", "text/plain", "english", {"a": 1}, ["x", "y"], None, 3, 0
)
SAME = Attributes("T", "u", "text/plain", None, {"a": 1}, ("y", "x"))


@pytest.mark.parametrize(
    ("attributes", "stored"),
    [
        (SAME, True),
        (Attributes("T", "u", "text/plain", "english", {"a": 1}, None), True),
        (Attributes("U", "u", "text/plain", None, {"a": 1}), False),
        (Attributes("T", "v", "text/plain", None, {"a": 1}), False),
        (Attributes("T", "u", "text/html", None, {"a": 1}), False),
        (Attributes("T", "u", "text/plain", "german", {"a": 1}), False),
        (Attributes("T", "u", "text/plain", None, {"a": 2}), False),
        (Attributes("T", "u", "text/plain", None, {"a": 1}, ("x",)), False),
        (Attributes("T", "u", "text/plain", None, {"a": 1}, (), None, datetime.now(UTC)), False),
    ],
)
def test_stored_in(attributes: Attributes, stored: bool) -> None:
    assert attributes.stored_in(STATE, "english") is stored


def test_no_language_means_the_collections() -> None:
    assert not SAME.stored_in(STATE, "german")
