"""Models by name: a reader, its mistakes, its latency, its faults and the account it is limited by."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final, get_args

import msgspec

from ..base import Answer, ConfigurationError, Question, Usage
from .chance import fraction, ordered, pick, seeded
from .config import Config, Fault, Limits, Mistake, ModelConfig
from .failure import Failure
from .latency import Latency, latency
from .limits import Clock, Gate
from .mistakes import make, wrong_by_rote
from .reader import Misreader, Reader, Readers

PREFIX: Final = "sim/"
_BYTES_PER_TOKEN: Final = 4


def tokens(text: str) -> int:
    """Return the estimated tokens of a text: a quarter of its UTF-8 bytes, rounded up."""
    size = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
    return -(-size // _BYTES_PER_TOKEN)


def _first(text: str, count: int) -> str:
    return text.encode(errors="surrogatepass")[: count * _BYTES_PER_TOKEN].decode(errors="ignore")


def prompt_tokens(question: Question) -> int:
    """Return the estimated tokens of all messages."""
    return sum(tokens(message.content) for message in question.messages)


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, its name in hexadecimal digits, and the mistake that was made in it."""

    answer: Answer
    name: str
    mistake: Mistake | None


class Model:
    """One model under one exact name. Its answers are a function of its configuration and the request's body."""

    def __init__(self, name: str, config: ModelConfig, reader: Reader, gate: Gate) -> None:
        self.name = name
        self.gate = gate
        self.faults: Mapping[Fault, float] = ordered(config.faults or {}, get_args(Fault))
        self.latency: Latency = latency(config.latency or 0.0)
        self.context_tokens = config.context_tokens
        self.seed = config.seed or 0
        self._reader = reader
        self.mistakes: Mapping[Mistake, float] = ordered(config.mistakes or {}, get_args(Mistake))
        self._reasoning_tokens = config.reasoning_tokens or 0
        self._cached_share = config.cached_share or 0.0
        self._hash = blake2b(f"{self.seed}\0{name}\0".encode(), digest_size=32, person=b"answer")

    def complete(self, question: Question, input_tokens: int) -> Completion:
        """Return the answer to a question, or raise the Failure that stands in its place.

        All chance comes from one hash of seed, name, messages and the request's own `seed`.
        """
        state = self._hash.copy()
        state.update(msgspec.json.encode((question.messages, question.options.get("seed"))))
        draw, for_reader, for_mistake = (state.digest()[start : start + 8] for start in (0, 8, 16))
        text = self._reader.answer(question.messages, question.options, seeded(for_reader))
        answer = Answer(text=text, model=question.model, usage=None)
        mistake = pick(self.mistakes, fraction(draw))
        if mistake is not None:
            answer = self._mistaken(mistake, answer, question, seeded(for_mistake))
        return Completion(self._measured(answer, question, input_tokens, mistake), state.hexdigest()[:32], mistake)

    def _mistaken(self, mistake: Mistake, answer: Answer, question: Question, chance: random.Random) -> Answer:
        if mistake != "wrong":
            return make(mistake, answer, chance)
        if isinstance(self._reader, Misreader):
            return replace(answer, text=self._reader.misread(answer.text, question.messages, question.options, chance))
        return replace(answer, text=wrong_by_rote(answer.text))

    def _measured(self, answer: Answer, question: Question, input_tokens: int, mistake: Mistake | None) -> Answer:
        """Return the answer held to `max_tokens`, reasoning first, with its usage."""
        reasoning = self._reasoning_tokens
        match question.options.get("max_tokens"):
            case int(most) if reasoning + tokens(answer.text) > most:
                reasoning = min(reasoning, most)
                answer = replace(answer, text=_first(answer.text, most - reasoning), finish="length")
            case _:
                pass
        if mistake == "unmetered":
            return answer
        usage = Usage(
            input_tokens=input_tokens,
            cached_tokens=int(input_tokens * self._cached_share),
            output_tokens=reasoning + tokens(answer.text),
            reasoning_tokens=reasoning,
        )
        return replace(answer, usage=usage)


class Models:
    """Finds models by the names that requests give: `sim/` may stand before, `?setting=value&…` behind."""

    def __init__(self, config: Config, readers: Readers, clock: Clock) -> None:
        self._config = config
        self._readers = readers
        self._clock = clock
        self.gate = Gate(config.limits or Limits(), clock)
        self._configs = {name.removeprefix(PREFIX): model for name, model in config.models.items()}
        self._gates = {name: Gate(model.limits, clock) for name, model in self._configs.items() if model.limits}
        self._made: dict[str, Model] = {}
        for name in self._configs:
            self._made[name] = self._make(name)

    def find(self, name: str) -> Model:
        """Return the model of that name, or raise the Failure that says why there is none."""
        name = name.removeprefix(PREFIX)
        model = self._made.get(name)
        if model is None:
            try:
                model = self._made[name] = self._make(name)
            except (ConfigurationError, ValueError) as error:
                raise Failure("not_found", f"The model {name!r} does not exist: {error}") from None
        return model

    def forget(self) -> None:
        """Refill every account."""
        for gate in (self.gate, *self._gates.values()):
            gate.forget()

    def _make(self, name: str) -> Model:
        base, _, query = name.partition("?")
        config = self._configs.get(base) or ModelConfig(reader=base)
        if query:
            config = config.varied(query)
        reader = self._readers.make(config.reader, config.settings)
        return Model(name, config.under(self._config), reader, self._gates.get(base, self.gate))
