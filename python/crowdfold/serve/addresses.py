"""Where webhooks may go: to public addresses, unless the operator says otherwise.

A name is looked up once, and the message goes to the address that was looked at: a name that changes its mind in between gains
nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Optional
from urllib.parse import urlsplit

__all__ = ["AddressError", "address_of", "complaint_about"]


class AddressError(Exception):
    """Why a message does not go there."""


def complaint_about(url: str) -> Optional[str]:
    """What is wrong with a URL by itself."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "a webhook is an http or https URL"
    if parts.username is not None or parts.password is not None or port == 0:
        return "a webhook's URL has neither a user, a password, nor the port 0"
    if not url.isascii() or any(c.isspace() for c in url):
        return "a webhook's URL has ASCII characters alone, and no blanks"
    return None


def is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    if mapped is not None:
        ip = mapped
    return ip.is_global and not ip.is_multicast


async def address_of(host: str, port: int, private: bool) -> str:
    """The address to connect to. AddressError if there is none, or one of them is private."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AddressError(f"{host} is not known: {error}") from None
    addresses = [str(one[4][0]) for one in found]
    if not addresses:
        raise AddressError(f"{host} has no address")
    if not private and not all(is_public(address) for address in addresses):
        raise AddressError(f"{host} is a private address; --private-webhooks true allows them")
    return addresses[0]
