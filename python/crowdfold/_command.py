"""The command `crowdfold` of the package: the same program as that of the engine."""

from __future__ import annotations

import os
import sys

from . import _native


def main() -> None:
    words = [b"crowdfold", *map(os.fsencode, sys.argv[1:])]
    sys.stdout.flush()
    sys.exit(_native.run_command(words))
