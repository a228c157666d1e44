"""The program crowdfold-serve."""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
from pathlib import Path
from typing import Optional, Sequence

__all__ = ["main"]

EPILOGUE = """
Every option may be given in the environment, as CROWDFOLD_SERVE_MAX_BODY, or in a TOML file, as max_body; a flag goes before
the environment, the environment before the file. `crowdfold-serve check-config` takes the same options, checks them, and prints them.
"""


def _complain(message: object) -> int:
    print(f"crowdfold-serve: {message}", file=sys.stderr)
    return 2


def _lacks(error: ImportError) -> int:
    return _complain(f"{error.name} is missing: pip install 'crowdfold[serve]' (Python 3.11 or newer)")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    try:
        from .config import ConfigError, add_flags, read_config, shown
    except ImportError as error:  # tomllib
        return _lacks(error)
    words = list(sys.argv[1:] if arguments is None else arguments)
    only_check = words[:1] == ["check-config"]
    parser = argparse.ArgumentParser("crowdfold-serve check-config" if only_check else "crowdfold-serve",
                                     description="crowdfold as an HTTP service", epilog=EPILOGUE)
    add_flags(parser)
    try:
        config = read_config(parser.parse_args(words[1:] if only_check else words))
    except ConfigError as error:
        return _complain(error)
    if only_check:
        print("\n".join(shown(config)))
        return 0
    try:
        from .app import make_app
        from .database import Database, DatabaseError
        from .first_token import FirstTokenError, tell_first_token
        from .logs import begin_to_log
        from .server import run
    except ImportError as error:
        return _lacks(error)
    begin_to_log(config.log)
    try:
        _take_folder(config.folder)
        database = Database(config.folder / "projects.db")
        tell_first_token(config, database)
    except (DatabaseError, FirstTokenError, OSError) as error:
        return _complain(error)
    print(f"crowdfold-serve: http://{config.listen}/docs", file=sys.stderr, flush=True)
    return 0 if run(make_app(config, database), config) else 1


def _take_folder(folder: Path) -> None:
    """For as long as the process lives: two services would write to the same projects."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(f"{folder}: another crowdfold-serve has this folder; stop it, or give another --folder") from None


if __name__ == "__main__":
    sys.exit(main())
