"""Runs as OpenTelemetry spans under the GenAI semantic conventions, made from journals after the fact.

A dialogue is a trace: one `invoke_workflow` span, and below it a client span `chat MODEL` per answer, from the send
that brought it until it came. Scores are `gen_ai.evaluation.result` events on the dialogue. Prompts and answers stay
out: the conventions make content a choice of its own. Ids follow from the run's name and the journal's keys, so a run
that is exported twice is the same spans.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Protocol

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span as ApiSpan
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from ...adapters.base import Json
from ...engine.again.replay import Asked
from ..reading import ModelIdentity, RunFolder
from .dialogue import Dialogue
from .export import Export
from .samples import Scored
from .times import began, came, sent, span
from .types import writable

BATCH: Final = 512
"""Spans that are sent at once."""

PROVIDERS: Final[Mapping[str, str]] = {
    "google": "gcp.gemini",
    "vertex": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "xai": "x_ai",
}
"""Our names of providers where the conventions have another; all others are the same."""

OPTIONS: Final[Mapping[str, str]] = {
    "max_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "seed": "gen_ai.request.seed",
}
_FINISH: Final = {"stop": "stop", "length": "length", "refused": "content_filter"}


class Sink(Protocol):
    """Takes spans in batches."""

    def send(self, spans: list[ReadableSpan]) -> None:
        """Take a batch; raises ConfigurationError when it cannot."""
        ...

    def close(self) -> None:
        """Finish."""
        ...


class OtelSpans:
    """Sends every dialogue's spans to a sink. Memory holds one batch."""

    def __init__(self, sink: Sink, export: Export, marks: Mapping[str, str]) -> None:
        self._sink = sink
        self._export = export
        self._ids = _Ids()
        resource = {"service.name": "turntide", **{f"turntide.mark.{word}": text for word, text in marks.items()}}
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource(resource),
            id_generator=self._ids,
            span_limits=SpanLimits(),
            shutdown_on_exit=False,
        )
        self._tracer: Tracer = provider.get_tracer("turntide.export")
        self._waiting: list[ReadableSpan] = []
        self._began: dict[str, datetime] = {}

    def add(self, dialogue: Dialogue) -> None:
        """Send the dialogue's spans, in batches."""
        self._waiting += self._spans(dialogue)
        if len(self._waiting) >= BATCH:
            self._flush()

    def close(self) -> None:
        """Send what waits."""
        self._flush()
        self._sink.close()

    def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch:
            self._sink.send(batch)

    def _spans(self, dialogue: Dialogue) -> Iterator[ReadableSpan]:
        run, unit = dialogue.run.manifest.run, dialogue.transcript.unit
        otherwise = self._start(dialogue.run)
        first, last = span(dialogue.asked, otherwise)
        self._ids.next(run, unit, "", "")
        root = self._tracer.start_span(
            f"invoke_workflow {self._export.title}",
            kind=SpanKind.INTERNAL,
            attributes=_dialogue(dialogue, self._export),
            start_time=_nanoseconds(first),
        )
        for sample in self._export.samples(dialogue):
            for name, scored in sample.scores.items():
                root.add_event("gen_ai.evaluation.result", _evaluation(sample.id, name, scored), _nanoseconds(last))
            if sample.fault:
                root.set_status(Status(StatusCode.ERROR, writable(sample.fault)))
        root.end(_nanoseconds(last))
        yield _sdk(root)
        for place, asked in enumerate(dialogue.asked):
            self._ids.next(run, unit, asked.branch, str(place))
            child = self._tracer.start_span(
                f"chat {_model(dialogue, asked).asked}",
                context=set_span_in_context(root),
                kind=SpanKind.CLIENT,
                attributes=_answer(dialogue, asked),
                start_time=_nanoseconds(sent(asked, otherwise)),
            )
            child.end(_nanoseconds(came(asked, otherwise)))
            yield _sdk(child)

    def _start(self, run: RunFolder) -> datetime:
        if run.manifest.run not in self._began:
            self._began[run.manifest.run] = began(run)
        return self._began[run.manifest.run]


class _Ids(IdGenerator):
    """Ids that follow from what a span is of, not from chance."""

    def __init__(self) -> None:
        self._trace = self._span = 1

    def next(self, run: str, unit: str, branch: str, place: str) -> None:
        """Fix the ids of the span that comes next."""
        self._trace = _number(16, run, unit)
        self._span = _number(8, run, unit, branch, place)

    def generate_trace_id(self) -> int:
        return self._trace

    def generate_span_id(self) -> int:
        return self._span


def _number(size: int, *parts: str) -> int:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=size).digest(), "big") or 1  # 0 is no id


def _sdk(made: ApiSpan) -> ReadableSpan:
    assert isinstance(made, ReadableSpan)
    return made


def _dialogue(dialogue: Dialogue, export: Export) -> dict[str, Any]:
    model, cell, item, repeat = dialogue.place
    return {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": export.title,
        "gen_ai.conversation.id": writable(dialogue.transcript.unit),
        "turntide.run": dialogue.run.manifest.run,
        "turntide.model": model,
        "turntide.cell": cell,
        "turntide.item": item,
        "turntide.repeat": repeat,
        "turntide.ended": dialogue.transcript.ended,
        "turntide.marks": list(dialogue.marks),
    }


def _answer(dialogue: Dialogue, asked: Asked) -> dict[str, Any]:
    answer, model = asked.answer, _model(dialogue, asked)
    provider = model.id.partition("/")[0]
    found: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(provider, provider),
        "gen_ai.system": PROVIDERS.get(provider, provider),
        "gen_ai.conversation.id": writable(dialogue.transcript.unit),
        "gen_ai.request.model": model.asked,
        "gen_ai.response.model": writable(answer.model),
        "gen_ai.response.finish_reasons": [_FINISH[answer.finish]],
        "turntide.model": model.label,
        "turntide.attempts": asked.line["n"],
        "turntide.queue_seconds": asked.line.get("queued", 0.0),
        "turntide.marks": list(dialogue.marks),
    }
    found |= {name: model.options[option] for option, name in OPTIONS.items() if _plain(model.options.get(option))}
    if answer.usage:
        usage = answer.usage
        found |= {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        }
    return {**found, "turntide.usd": float(asked.line["usd"])} if "usd" in asked.line else found


def _plain(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _model(dialogue: Dialogue, asked: Asked) -> ModelIdentity:
    """Return whom a question went to: a model of the run, or one that its benchmark asks itself."""
    return dialogue.models.get(asked.model) or ModelIdentity(asked.model, f"unknown/{asked.model}", {})


def _evaluation(sample: str, name: str, scored: Scored) -> dict[str, Any]:
    return {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": float(scored.holds),
        "gen_ai.evaluation.score.label": "pass" if scored.holds else "fail",
        "gen_ai.evaluation.explanation": writable(scored.why),
        "turntide.sample": writable(sample),
    }


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1e3) * 1_000_000  # the journal keeps milliseconds
