"""The command line: one module per command, imported only when its command is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final, NamedTuple, NoReturn, cast

from .streams import NO_ROOM, abandon, open_streams


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line: the usage of a command with many options would bury them."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look, and exit with 2."""
        self.exit(2, f"{self.prog}: {message}. See {self.prog} --help.\n")


class Command(NamedTuple):
    """A command of ours: the module that brings it, and a line for the help."""

    module: str
    summary: str


COMMANDS: Final[dict[str, Command]] = {
    "demo": Command("demo", "the whole 25-cell sweep on synthetic data with simulated models"),
    "run": Command("run", "run a benchmark, or go on with a run"),
    "resume": Command("resume", "go on with a run from its folder"),
    "probe": Command("probe", "one tiny call that checks key, base URL, model, options, limits and price"),
    "status": Command("status", "how far a run is, from another terminal or afterwards"),
    "report": Command("report", "tables of one or more runs"),
    "compare": Command("compare", "paired differences between runs, models or conditions"),
    "rescore": Command("rescore", "score a run again from its answers, without a call"),
    "export": Command("export", "runs as Parquet, CSV, a data set folder, Inspect's logs or OpenTelemetry's spans"),
    "data": Command("data", "build, list and check databases and benchmarks"),
    "sql": Command("sql", "one statement under the sweep's guards, compared with a gold one"),
    "models": Command("models", "install a small model"),
    "serve": Command("serve", "the simulated provider on its own"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the `turntide` command and return its exit code: 2 for what the user can mend, never a traceback for it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    open_streams()
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        abandon(sys.stdout.fileno())
        _complain(f"cannot write: {error.strerror}")
        return 2
    return code


def _dispatch(words: list[str]) -> int:
    from ...adapters.misuse import ConfigurationError
    from ..errors import RunError

    name = words[0] if words else ""
    try:
        if name and not name.startswith("-") and name not in COMMANDS:
            return _benchmark_command(name, words)
        parser = _parser(name, words)
        args = parser.parse_args(words)
        if "run" not in args:
            parser.print_help()
            return 2 if words else 0
        return args.run(args)
    except (ConfigurationError, RunError) as error:
        _complain(str(error))
        return 2


def _complain(message: str) -> None:
    """Print an error; what it quotes (ids, names, SQL) cannot speak to the terminal."""
    from ...adapters.printable import printable

    print("turntide: " + "\n".join(map(printable, message.split("\n"))), file=sys.stderr)


def _parser(only: str, words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser with the one command that was called in full, and the others as names with a line each."""
    parser = _new_parser("turntide", "Evaluates conversational text-to-SQL at scale.")
    parser.add_argument("--version", action="version", version=f"turntide {_version()}" if only == "--version" else "")
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, command in COMMANDS.items():
        if name == only:
            import_module(f".{command.module}", __name__).add_parser(commands, words)
        else:
            commands.add_parser(name, help=command.summary)
    return parser


def _new_parser(program: str, description: str) -> argparse.ArgumentParser:
    return Parser(prog=program, description=description)


def _benchmark_command(name: str, words: list[str]) -> int:
    """Run a command that a benchmark brings (`turntide tide ...`): its own, or one that reads results."""
    from ...adapters.misuse import ConfigurationError
    from .. import registry
    from ..benchmark import CommandAdder

    if name not in registry.names("benchmarks"):
        known = ", ".join([*COMMANDS, *registry.names("commands")])
        raise ConfigurationError(f"unknown command {name!r}. There are: {known}.")
    benchmark = registry.benchmark_of(name)
    parser = _new_parser(f"turntide {name}", benchmark.summary)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)
    benchmark.add_commands(commands)
    if name in registry.names("commands"):
        cast("CommandAdder", registry.load("commands", name))(commands)
    if not commands.choices:
        raise ConfigurationError(f"{name} is a benchmark without commands of its own: `turntide run {name}` runs it.")
    args = parser.parse_args(words[1:])
    return args.run(args)


def _version() -> str:
    from importlib.metadata import version

    return version("turntide")
