"""Which text-search configuration a document is stored with: the one that is named, else by its text."""

from __future__ import annotations

import functools

from ragpg.db.flow import Flow, blocking, run
from ragpg.db.languages import configuration_for, is_known, is_of_one_language, known_languages
from ragpg.db.rows import DocumentState
from ragpg.errors import InvalidArgument, MissingExtra
from ragpg.ingest.attributes import AUTO
from ragpg.ingest.plan import Item
from ragpg.text.detection import detect_language, detector_installed
from ragpg.types import ParsedDocument

# Programs are written in English, whatever the text around them.
_NO_PROSE = ("code", "page_break")


class Languages:
    """The languages of one run.

    Parameters
    ----------
    collection
        The collection's configuration. One of a single language is meant for those texts that don't show theirs; ``simple``,
        and one that somebody made, are meant for all.
    """

    def __init__(self, collection: str) -> None:
        self._of_one_language = is_of_one_language(collection)
        self._known: frozenset[str] | None = None

    def known(self) -> Flow[frozenset[str]]:
        """The configurations of the database, asked for once."""
        if self._known is None:
            self._known = yield from run(known_languages())
        return self._known

    def check(self, language: str | None) -> Flow[None]:
        """Refuse a language before anything is done with it.

        Raises
        ------
        InvalidArgument
            Where the database has no such configuration.
        MissingExtra
            Where it is ``auto``, and the detector is not installed.
        """
        if language == AUTO:
            if not detector_installed():
                raise MissingExtra(
                    "language auto needs py3langid, which is not installed: pip install 'ragpg[languages]'"
                )
        elif language is not None and not is_known(language, (yield from self.known())):
            raise InvalidArgument(
                f"language is {language!r}, which is no text-search configuration of the database"
            )

    def of(self, item: Item, state: DocumentState | None) -> Flow[str | None]:
        """The configuration of a document.

        Parameters
        ----------
        item
            The document.
        state
            What is stored of it. A text that has not changed keeps its language, so that nothing is written again because
            a detector was installed, removed or improved.

        Returns
        -------
        str | None
            ``None`` is the collection's.

        Raises
        ------
        InvalidArgument, MissingExtra
            As :meth:`check`, for what the document itself says.
        """
        said = item.attributes.language
        yield from self.check(said)
        if said is not None and said != AUTO:
            return said
        if said is None:
            if state is not None and state.content_hash == item.content_hash:
                return state.language
            if not self._of_one_language:
                return None
            if not detector_installed():
                return None if state is None else state.language
        code = yield from blocking(functools.partial(detect_language, prose(item.document)))
        return None if code is None else configuration_for(code, (yield from self.known()))


def prose(document: ParsedDocument) -> str:
    """The text without its code; all of it where nothing else is there."""
    content = document.content
    parts = [
        content[block.char_start : block.char_end] for block in document.blocks if block.kind not in _NO_PROSE
    ]
    return "\n".join(parts) or content
