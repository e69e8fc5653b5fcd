"""An HTML file as a tree with the boilerplate cut away."""

from __future__ import annotations

import re
from typing import Any

from ragpg.errors import ParseError
from ragpg.parsing.extras import require

# Never text of the page.
_INVISIBLE = (
    "script", "style", "noscript", "template", "svg", "annotation", "annotation-xml", "iframe", "object", "canvas",
    "audio", "video", "map", "select", "button", "input", "textarea", "datalist", "dialog", "head",
)  # fmt: skip
_BOILERPLATE_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog"}
)
# Whole class names and ids, as MediaWiki, Sphinx, Docusaurus and the common cookie banners write them.
_BOILERPLATE_NAMES = frozenset({
    "noprint", "navbox", "navbar", "sidebar", "breadcrumb", "breadcrumbs", "toc", "table-of-contents", "pagination",
    "mw-editsection", "mw-jump-link", "mw-portlet", "mw-cite-backlink", "printfooter", "vector-header-container",
    "mw-footer-container", "catlinks", "headerlink", "sphinxsidebar", "linenos", "linenodiv",
    "theme-doc-breadcrumbs", "skip-link", "skip-to-content", "cookie-banner", "cookie-consent", "cookie-notice",
    "onetrust-consent-sdk", "social-share", "share-buttons", "sr-only", "visually-hidden",
})  # fmt: skip
_PERMALINKS = frozenset({"", "¶", "#", "§", "↑", "↩", "↩︎", "🔗"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_CUT = "ragpg-cut"


def declared_charset(data: bytes) -> str | None:
    """Give the encoding that an HTML file names in its first 4 kB."""
    match = _XML_ENCODING.search(data[:4096]) or _CHARSET.search(data[:4096])
    return match[1].decode("ascii", "replace") if match else None


def load(source: str, *, name: str) -> Any:
    """Parse HTML into an lxml tree.

    Raises
    ------
    ParseError
        When there is nothing in it, or elements are nested deeper than libxml2 goes (2,048).
    """
    etree = require("lxml.etree")
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, no_network=True
    )
    try:
        root = etree.fromstring(source.encode(), parser)
    except etree.LxmlError as error:
        raise ParseError(f"{name} can't be read as HTML: {error}") from error
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise ParseError(f"{name} can't be read as HTML: its elements are nested too deeply (over 2,048)")
    if root is None:
        raise ParseError(f"{name} holds no text")
    return root


def page_title(root: Any) -> str | None:
    """Give the text of ``<title>``, if there is any."""
    element = root.find(".//title")
    return " ".join("".join(element.itertext()).split()) or None if element is not None else None


def remove_invisible(root: Any) -> None:
    """Cut what no reader sees: scripts, styles, form controls, hidden elements, permalink marks."""
    require("lxml.etree").strip_elements(root, *_INVISIBLE, with_tail=False)
    _cut(root, [element for element in root.iter() if _is_hidden(element) or _is_mark(element)])


def main_content(root: Any) -> Any:
    """Cut the boilerplate and find the element that holds what the page is about.

    Navigation, asides, page headers and footers go. The header of an article or section stays, for it holds its heading. Where nothing
    would be left, nothing is cut.
    """
    body = root.find(".//body")
    body = root if body is None else body
    boilerplate: list[Any] = []
    walk = require("lxml.etree").iterwalk(body, events=("start",))
    for _, element in walk:
        if element is not body and _is_boilerplate(element):
            boilerplate.append(element)
            walk.skip_subtree()
    if _text_length(body) == sum(_text_length(element) for element in boilerplate):
        return body
    _cut(body, boilerplate)
    mains = [*body.iter("main"), *body.iterfind(".//*[@role='main']")]
    if len(mains) == 1 and _text_length(mains[0]):
        return mains[0]
    articles = list(body.iter("article"))
    if len(articles) == 1 and _text_length(articles[0]) * 2 > _text_length(body):
        return articles[0]
    return body


def _cut(root: Any, elements: list[Any]) -> None:
    for element in elements:
        if element is not root:
            element.tag = _CUT
    require("lxml.etree").strip_elements(root, _CUT, with_tail=False)


def _text_length(element: Any) -> int:
    return len("".join("".join(element.itertext()).split()))


def _is_hidden(element: Any) -> bool:
    get = element.get
    return bool(
        (get("hidden") not in (None, "until-found"))
        or get("aria-hidden") == "true"
        or ((style := get("style")) and _HIDDEN_STYLE.search(style))
    )


def _is_mark(element: Any) -> bool:
    """Whether it is a heading's permalink, a way back from a footnote, or the number of one."""
    if element.tag == "a":
        return (element.get("href") or "").startswith("#") and "".join(
            element.itertext()
        ).strip() in _PERMALINKS
    return element.tag == "sup" and "reference" in (element.get("class") or "").split()


def _is_boilerplate(element: Any) -> bool:
    tag = element.tag
    if tag in ("nav", "aside"):
        return True
    if tag == "header":
        return next(element.iterancestors("article", "main", "section"), None) is None
    if tag == "footer":
        return next(element.iterancestors("blockquote"), None) is None
    if element.get("role") in _BOILERPLATE_ROLES:
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()
    return tag not in ("body", "main", "article") and not _BOILERPLATE_NAMES.isdisjoint(names)
