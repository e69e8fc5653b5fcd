"""Plain text: paragraphs by blank lines, nothing changed."""

from __future__ import annotations

from ragpg.parsing.builder import paragraphs
from ragpg.parsing.cleanup import decode
from ragpg.types import ParsedDocument


def parse_text(data: bytes, *, name: str, charset: str | None = None) -> ParsedDocument:
    """Parse plain text.

    Parameters
    ----------
    data
        The file.
    name
        Its name, for the messages.
    charset
        The encoding that the sender names, if any.

    Returns
    -------
    ParsedDocument
        The text as it is, one paragraph block for every run of lines that are not blank.

    Raises
    ------
    ParseError
        When the file is empty, binary, or in an encoding that can't be told.
    """
    content, warnings = decode(data, name=name, declared=charset)
    return ParsedDocument(
        content=content,
        blocks=tuple(paragraphs(content, 0, len(content))),
        media_type="text/plain",
        warnings=tuple(warnings),
    )
