"""Signatures of Standard Webhooks, for messages that go out and that come in."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from typing import Mapping

__all__ = ["headers_of", "is_secret", "is_signed", "new_secret"]

MOST_SECONDS_OFF = 300


def new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix("whsec_"), validate=True)


def is_secret(secret: str) -> bool:
    try:
        return secret.startswith("whsec_") and 24 <= len(_key(secret)) <= 64
    except binascii.Error:
        return False


def _signature(secret: str, id: str, timestamp: str, body: bytes) -> str:
    signed = f"{id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(_key(secret), signed, hashlib.sha256)).decode()


def headers_of(secret: str, id: str, body: bytes) -> dict[str, str]:
    timestamp = str(int(time.time()))
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": _signature(secret, id, timestamp, body)}


def is_signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the message is of one who knows the secret, and of now."""
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit() or abs(time.time() - int(timestamp)) > MOST_SECONDS_OFF:
        return False
    right = _signature(secret, headers.get("webhook-id", ""), timestamp, body)
    return any(hmac.compare_digest(right.encode(), one.encode()) for one in headers.get("webhook-signature", "").split())
