"""How much a client may ask for: requests per second, and bytes of a body, also of one that is packed."""

from __future__ import annotations

import asyncio
import dataclasses
import time
import zlib
from typing import Optional

import zstandard
from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .problems import Problem

__all__ = ["BodyLimits", "RateLimits", "unpacked_body"]


@dataclasses.dataclass
class _Bucket:
    left: float
    at: float


class RateLimits:
    """So many requests per second and token, on average."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: dict[int, _Bucket] = {}

    def require(self, token: int) -> None:
        at = time.monotonic()
        bucket = self._buckets.setdefault(token, _Bucket(self._burst, at))
        bucket.left = min(self._burst, bucket.left + (at - bucket.at) * self._rate)
        bucket.at = at
        if bucket.left < 1:
            seconds = max(1, round((1 - bucket.left) / self._rate))
            raise Problem(429, f"more requests than {self._rate:g} per second; try again in {seconds} s",
                          headers={"Retry-After": str(seconds)})
        bucket.left -= 1


def _too_large(most: int) -> Problem:
    return Problem(413, f"the body is larger than {most} bytes; send several smaller ones", headers={"Connection": "close"})


class BodyLimits:
    """No body is larger, nor takes longer, whatever the length that was announced."""

    def __init__(self, app: ASGIApp, most_bytes: int, seconds: float) -> None:
        self.app = app
        self._most_bytes = most_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        end = time.monotonic() + self._seconds
        left = self._most_bytes
        is_complete = False

        async def limited() -> Message:
            nonlocal left, is_complete
            if is_complete:  # waits for the client to go away: that may take as long as it likes
                return await receive()
            try:
                async with asyncio.timeout(max(0.0, end - time.monotonic())):
                    message = await receive()
            except TimeoutError:
                raise Problem(408, f"the body took longer than {self._seconds:g} s", headers={"Connection": "close"}) from None
            left -= len(message.get("body", b""))
            if left < 0:
                raise _too_large(self._most_bytes)
            is_complete = not message.get("more_body", False)
            return message

        await self.app(scope, limited, send)


def _gunzip(packed: bytes, most: int) -> Optional[bytes]:
    """None if it is not all there."""
    parts: list[bytes] = []
    size = 0
    while packed:  # members may follow one another
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
        parts.append(unpacker.decompress(packed, most + 1 - size))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not unpacker.eof:
            return None
        packed = unpacker.unused_data
    return b"".join(parts)


def _unzstd(packed: bytes, most: int) -> Optional[bytes]:
    """None if it is not all there."""
    # Four bytes may become 128 kB, and a piece is unpacked whole.
    piece = 1024
    parts: list[bytes] = []
    size = 0
    rest = memoryview(packed)
    while rest:  # frames may follow one another
        unpacker = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj()
        while rest and not unpacker.eof:
            parts.append(unpacker.decompress(rest[:piece]))
            rest = rest[piece:]
            size += len(parts[-1])
            if size > most:
                raise _too_large(most)
        if not unpacker.eof:
            return None
        unused = unpacker.unused_data
        if unused:
            rest = memoryview(packed)[len(packed) - len(rest) - len(unused):]
    return b"".join(parts)


async def unpacked_body(request: Request, most: int) -> bytes:
    """Problem if it is packed in a way that is not known, or larger than that."""
    body = await request.body()
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    unpack = {"gzip": _gunzip, "zstd": _unzstd}.get(encoding)
    if unpack is None:
        raise Problem(415, f"Content-Encoding: {encoding} is not known; send gzip, zstd, or nothing",
                      headers={"Accept-Encoding": "gzip, zstd"})
    try:
        text = await asyncio.to_thread(unpack, body, most)
    except (zlib.error, zstandard.ZstdError) as error:
        raise Problem(400, f"the body is no {encoding}: {error}") from None
    if text is None:
        raise Problem(400, f"the body is no {encoding}: its end is missing")
    return text
