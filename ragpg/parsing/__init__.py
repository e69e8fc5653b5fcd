"""Bytes to text and blocks: Markdown, HTML, plain text, PDF and DOCX."""

from ragpg.parsing.dispatch import parse, parse_path, supported_suffixes

__all__ = ["parse", "parse_path", "supported_suffixes"]
