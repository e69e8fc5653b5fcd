"""What several layers need to know about text: its tokens and its sentences."""

from ragpg.text.sentences import Span, split_sentences, word_start
from ragpg.text.tokens import TOKENIZERS, TokenCounter, token_counter, word_piece

__all__ = [
    "TOKENIZERS",
    "Span",
    "TokenCounter",
    "split_sentences",
    "token_counter",
    "word_piece",
    "word_start",
]
