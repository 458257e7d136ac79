"""HTML that cannot be broken by what is put into it.

In go tags, attributes and texts; out comes `Html`. A plain string is always escaped; only what `element` made is taken
as it is.
"""

from __future__ import annotations

from html import escape
from typing import Optional, Union

from forkhang_ipy.views.names import printable, printable_lines


class Html(str):
    """A piece of HTML that is safe to put into HTML."""

    __slots__ = ()


Content = Union[Html, str, None]


def element(tag: str, *content: Content, **attributes: Optional[str]) -> Html:
    """The element; attributes that are None are left out, `class_` is `class`, `aria_label` is `aria-label`."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(printable(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{written}>{join(*content)}</{tag}>")


def join(*content: Content) -> Html:
    """The pieces one after the other."""
    return Html("".join(_safe(piece) for piece in content))


def preformatted(code: str) -> Html:
    """`<pre>`, with its lines."""
    return Html(f"<pre>{escape(printable_lines(code))}</pre>")


def _safe(piece: Content) -> str:
    if piece is None:
        return ""
    return piece if isinstance(piece, Html) else escape(printable(piece))
