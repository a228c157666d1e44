"""The first administrator's token: made where there is none, told once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .config import Config
from .database import Database
from .tokens import Role, Tokens

__all__ = ["FirstTokenError", "tell_first_token"]


class FirstTokenError(Exception):
    """Why the service must not begin."""


def tell_first_token(config: Config, database: Database) -> None:
    tokens = Tokens(database)
    if tokens.has_admin():
        return
    path = config.admin_token_file
    if path is None and not config.is_loopback:
        raise FirstTokenError(f"{config.listen} can be reached by others, and there is no administrator's token yet: give "
                              "--admin-token-file FILE to have one written, or begin on 127.0.0.1")
    if path is not None and path.exists():
        raise FirstTokenError(f"{path} is there already, but {config.folder} knows no administrator's token that is valid: move the "
                              "file away, or give another")
    if path is None:
        _, secret = tokens.add("first administrator", Role.admin, None, None, "crowdfold-serve")
        print(f"crowdfold-serve: the administrator's token, told once: {secret}", file=sys.stderr, flush=True)
        return
    # The file comes first: a token that could not be told would be lost.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        _, secret = tokens.add("first administrator", Role.admin, None, None, "crowdfold-serve")
        file.write(secret + "\n")
        file.flush()
        os.fsync(file.fileno())
    print(f"crowdfold-serve: the administrator's token is in {Path(path)}", file=sys.stderr, flush=True)
