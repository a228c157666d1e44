"""How results look where they are printed: rows of text in a terminal, tables in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, List, Sequence, Tuple

import numpy as np

MOST_ROWS = 10
STYLE = "border-collapse:collapse;font:13px system-ui,sans-serif;margin:.3em 0"


def cell(value: Any) -> str:
    """A value as text: numbers with four digits behind the point at most."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.4f}".rstrip("0").rstrip(".") if np.isfinite(value) else "" if value != value else str(value)
    return "" if value is None else str(value)


def ends(count: int) -> Tuple[Iterable[int], bool]:
    """The rows to show of so many, and whether others are left out behind the first half."""
    if count <= MOST_ROWS:
        return range(count), False
    half = MOST_ROWS // 2
    return [*range(half), *range(count - half, count)], True


def rows_of(columns: Sequence[Any]) -> Tuple[List[List[str]], bool]:
    """The rows to show of columns, as texts, and whether some are left out in the middle."""
    places, is_cut = ends(len(columns[0]) if columns else 0)
    return [[cell(column[place]) for column in columns] for place in places], is_cut


def text_table(header: Sequence[str], columns: Sequence[Any], footer: str) -> str:
    """Columns that stand straight, with numbers to the right."""
    rows, is_cut = rows_of(columns)
    if is_cut:
        rows.insert(len(rows) // 2, ["…"] * len(columns))
    widths = [max(map(len, texts)) for texts in zip(header, *rows)]
    right = [np.asarray(column).dtype.kind in "iuf" for column in columns]

    def line(texts: Sequence[str]) -> str:
        cells = (text.rjust(width) if is_right else text.ljust(width) for text, width, is_right in zip(texts, widths, right))
        return "  ".join(cells).rstrip()

    return "\n".join([line(header), *map(line, rows), footer])


def html_text(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    def line(tag: str, texts: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag} style='text-align:left;padding:.15em .8em .15em 0'>{escape(text)}</{tag}>"
                                for text in texts) + "</tr>"

    title = f"<caption style='text-align:left;font-weight:600'>{escape(caption)}</caption>" if caption else ""
    return f"<table style='{STYLE}'>{title}{line('th', header)}{''.join(line('td', row) for row in rows)}</table>"


def html_columns(header: Sequence[str], columns: Sequence[Any], footer: str) -> str:
    rows, is_cut = rows_of(columns)
    if is_cut:
        rows.insert(len(rows) // 2, ["…"] * len(columns))
    return html_table(header, rows) + f"<div style='font:12px system-ui,sans-serif;opacity:.7'>{escape(footer)}</div>"


def share(part: float) -> str:
    return f"{100 * part:.0f} %"


def html_bar(part: float) -> str:
    """A share of a cell, as a bar."""
    return (f"<span style='display:inline-block;width:6em;height:.7em;background:#8884'><span style='display:block;height:100%;"
            f"width:{100 * part:.1f}%;background:#4c78a8'></span></span>")


def html_interval(low: float, middle: float, high: float) -> str:
    """An interval within 0 and 1, with its middle marked."""
    return ("<span style='display:inline-block;position:relative;width:8em;height:.7em;background:#8884'>"
            f"<span style='position:absolute;height:100%;left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%;"
            "background:#4c78a888'></span>"
            f"<span style='position:absolute;height:100%;left:calc({100 * middle:.1f}% - 1px);width:2px;background:#4c78a8'></span></span>")
