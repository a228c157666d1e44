"""Markdown that the scripts in this folder write: numbers, tables, and text between markers of a page."""

from __future__ import annotations

import math
import re
from pathlib import Path


def decimal(value: float, digits: int = 4) -> str:
    """.8455, as accuracies are printed; nothing for NaN."""
    return "" if math.isnan(value) else re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}")


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def fill_page(path: Path, texts: dict[str, str]) -> None:
    """Writes texts[marker] between `<!-- marker -->` and the next `<!-- end -->` of a page."""
    page = path.read_text(encoding="utf-8")
    for marker, text in texts.items():
        page = fill(page, marker, text)
    path.write_text(page, encoding="utf-8")


def fill(page: str, marker: str, text: str) -> str:
    pattern = re.compile(rf"(<!-- {marker} -->\n).*?(<!-- end -->)", re.DOTALL)
    filled, count = pattern.subn(lambda match: f"{match[1]}{text}\n{match[2]}", page, count=1)
    if count == 0:
        raise SystemExit(f"no place for '{marker}'")
    return filled
