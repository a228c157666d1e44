"""The configuration of the service. Every option is a field of Config; flags, environment and TOML keys follow from it.

A flag goes before the environment, the environment before the file.
"""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
import os
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

import tomllib

__all__ = ["Config", "ConfigError", "add_flags", "read_config"]

PREFIX = "CROWDFOLD_SERVE_"


class ConfigError(Exception):
    """An option is unknown, or its value does not fit."""


def _address(text: str) -> str:
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isdigit() or int(port) > 65535:
        raise ValueError("an address looks like 127.0.0.1:8080")
    return text


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("true or false")
    return text == "true"


def _between(least: float, most: float, number: Callable[[str], Any]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = number(text)
        if not least <= value <= most:
            raise ValueError(f"from {least:g} to {most:g}")
        return value

    return read


def _log(text: str) -> str:
    if text not in ("text", "json"):
        raise ValueError("text or json")
    return text


def _option(help: str, read: Callable[[str], Any], default: Any = None) -> Any:
    return dataclasses.field(default=default, metadata={"help": help, "read": read})


@dataclasses.dataclass(frozen=True)
class Config:
    folder: Path = _option("where projects are kept; made if it is not there", Path)
    listen: str = _option("address and port", _address, "127.0.0.1:8080")
    admin_token_file: Optional[Path] = _option(
        "the first administrator's token is written there (mode 0600) if the file does not exist", Path)
    log: str = _option("how to log: text or json", _log, "text")
    reader_threads: int = _option("threads that answer questions", _between(1, 64, int), 4)
    max_body: int = _option("largest body of a request in bytes, unpacked", _between(1024, 2**31, int), 32 << 20)
    max_queue: int = _option("bytes of events that may wait in a project", _between(1024, 2**40, int), 128 << 20)
    max_connections: int = _option("connections at a time", _between(1, 1_000_000, int), 4096)
    rate: float = _option("requests per second and token, on average", _between(.01, 1e9, float), 1000.0)
    burst: float = _option("requests of a token at once", _between(1, 1e9, float), 2000.0)
    header_seconds: float = _option("time for the head of a request", _between(.1, 3600, float), 10.0)
    body_seconds: float = _option("time for the body of a request", _between(.1, 3600, float), 60.0)
    idle_seconds: float = _option("time between requests of a connection", _between(1, 3600, float), 75.0)
    feed_days: float = _option("days for which event streams can resume", _between(.001, 3650, float), 7.0)
    private_webhooks: bool = _option("webhooks may go to private addresses", _flag, False)
    crowdfold: str = _option("the program that makes reports", str, "crowdfold")

    @property
    def host(self) -> str:
        return self.listen.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        return int(self.listen.rpartition(":")[2])

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def _flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """A flag for every option, and --config."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="a TOML file with these options, such as max_body = 1000000")
    for field in dataclasses.fields(Config):
        default = "" if field.default is None else f" [{str(field.default).lower()}]"
        parser.add_argument(_flag_of(field.name), dest=field.name, metavar=field.name.upper().rpartition("_")[2],
                            help=field.metadata["help"] + default)


def _from_file(path: Path) -> dict[str, tuple[str, Any]]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    known = {field.name for field in dataclasses.fields(Config)}
    for name in values:
        if name not in known:
            raise ConfigError(f"{path}: there is no option '{name}'; there are {', '.join(sorted(known))}")
    return {name: (f"{path}: {name}", value) for name, value in values.items()}


def read_config(flags: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> Config:
    """ConfigError says which option is wrong, where it was given, and what it may be."""
    given: dict[str, tuple[str, Any]] = {}
    path = flags.config or environment.get(PREFIX + "CONFIG")
    if path:
        given.update(_from_file(Path(path)))
    for field in dataclasses.fields(Config):
        variable = PREFIX + field.name.upper()
        if variable in environment:
            given[field.name] = (variable, environment[variable])
        if getattr(flags, field.name) is not None:
            given[field.name] = (_flag_of(field.name), getattr(flags, field.name))
    names = {PREFIX + field.name.upper() for field in dataclasses.fields(Config)} | {PREFIX + "CONFIG"}
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in names:
            raise ConfigError(f"{variable}: there is no such option; there are {', '.join(sorted(names))}")
    values = {}
    for field in dataclasses.fields(Config):
        if field.name not in given:
            continue
        place, value = given[field.name]
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            values[field.name] = field.metadata["read"](text)
        except ValueError as error:
            raise ConfigError(f"{place}: '{text}' does not fit: {error}") from error
    if not values.get("folder"):
        raise ConfigError("where are projects to be kept? --folder DIR")
    return Config(**values)


def shown(config: Config) -> Sequence[str]:
    """The options as lines of a TOML file."""
    lines = []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if isinstance(value, (str, Path)):
            text = str(value).replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'{field.name} = "{text}"')
        elif value is not None:
            lines.append(f"{field.name} = {str(value).lower()}")
    return lines
