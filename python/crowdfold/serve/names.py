"""Names in paths. Any name is one segment, percent-encoded: "a/b" is a%2Fb, ".." is %2E%2E.

Servers decode a path before it is routed, and "a%2Fb" would be two segments. So paths are routed as they were sent, and each
name is decoded where it is taken out.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, unquote_to_bytes

from fastapi import Path
from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

from .problems import Problem

__all__ = ["Name", "RawPaths", "require_name"]

Name = Annotated[str, Path(description="a name, percent-encoded: / is %2F", min_length=1, max_length=10_000)]


class RawPaths:
    """Has the application route by the path as it was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = dict(scope, path=scope["raw_path"].decode("latin-1"))
        await self.app(scope, receive, send)


class NameConvertor(Convertor[str]):
    regex = "[^/]+"

    def convert(self, value: str) -> str:
        # What is no UTF-8 is no name of anything: it is not found.
        return unquote_to_bytes(value.encode("latin-1")).decode("utf-8", "replace")

    def to_string(self, value: str) -> str:
        return quote(value, safe="")


register_url_convertor("name", NameConvertor())


def require_name(name: str, what: str) -> str:
    """A name that something new may get."""
    if not name.strip() or "\0" in name:
        raise Problem(422, f"{what}: a name must not be blank, nor hold a NUL character", errors=[
            {"field": what, "detail": "blank, or with a NUL character"}])
    return name
