"""Readers: what a simulated model thinks with. A reader sees the prompt and nothing else."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeAlias, runtime_checkable

from ..base import ConfigurationError, Json, Message
from .chance import digest

GROUP = "turntide.readers"


class Reader(Protocol):
    """Answers from the prompt alone: what it does not say, a reader cannot know."""

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return the answer to the last message.

        `options` has the names of `adapters.base.Question`; `chance` is seeded by model and prompt, and is the only
        source of chance a reader may use. Equal arguments give equal answers, in any order and at any time.
        """
        ...


@runtime_checkable
class Misreader(Protocol):
    """A reader that knows how to be plausibly wrong about its own subject; others are made wrong by rote."""

    def misread(
        self, answer: str, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random
    ) -> str:
        """Return a wrong answer in the place of `answer`."""
        ...


ReaderFactory: TypeAlias = Callable[..., Reader]
"""Makes a reader from the `settings` of its model, given as keyword arguments."""


class EchoReader:
    """Says the last message back."""

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        """Return the content of the last message."""
        return messages[-1].content


class ScriptReader:
    """Answers from a table: by the digest of the whole prompt, else by the first pattern found in the last message."""

    def __init__(
        self,
        *,
        answers: Mapping[str, str] | None = None,
        patterns: Mapping[str, str] | None = None,
        otherwise: str = "",
    ) -> None:
        self._answers = dict(answers or {})
        self._patterns = [(re.compile(pattern), answer) for pattern, answer in (patterns or {}).items()]
        self._otherwise = otherwise

    def answer(self, messages: Sequence[Message], options: Mapping[str, Json], chance: random.Random) -> str:
        r"""Return the table's answer; a pattern's answer may name its groups as `\1` or `\g<name>`."""
        if self._answers and (answer := self._answers.get(prompt_digest(messages))) is not None:
            return answer
        for pattern, answer in self._patterns:
            if match := pattern.search(messages[-1].content):
                return match.expand(answer)
        return self._otherwise


def prompt_digest(messages: Sequence[Message]) -> str:
    """Return the 32 hexadecimal digits under which a script files its answer to a prompt."""
    parts = (part.encode() for message in messages for part in (message.role, message.content))
    return digest(*parts, purpose=b"prompt").hex()


class Readers:
    """All readers by name: our two for tests, and those that any installed package brings.

    A package's reader is imported when a model first asks for it, so a broken one harms nobody else.
    """

    def __init__(self) -> None:
        self._builtin: dict[str, ReaderFactory] = {"echo": EchoReader, "script": ScriptReader}

    @cached_property
    def _installed(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=GROUP)}

    def __contains__(self, name: str) -> bool:
        return name in self._builtin or name in self._installed

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._builtin, *self._installed}))

    def make(self, name: str, settings: Mapping[str, object]) -> Reader:
        """Return a new reader, or raise ConfigurationError that says why there is none."""
        if name not in self:
            raise ConfigurationError(f"no reader is called {name!r}; there are {', '.join(self)}.")
        try:
            factory: ReaderFactory = self._builtin[name] if name in self._builtin else self._installed[name].load()
            return factory(**settings)
        except Exception as error:
            # Whatever a package's import or constructor raises, it is that package's: say so and go on.
            raise ConfigurationError(f"reader {name!r} cannot be made: {type(error).__name__}: {error}") from error
