"""A sample as Inspect's logs hold it (inspect_ai's `EvalSample` and `EvalSampleSummary`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from ...adapters.base import Answer, Json, Message
from ...engine.again.replay import Asked
from .dialogue import Dialogue
from .samples import Sample, Scored
from .times import span

EPOCHS_FROM: Final = 1
"""Inspect counts repeats, its epochs, from 1."""

_STOPS: Final = {"stop": "stop", "length": "max_tokens", "refused": "content_filter"}
_IN_SUMMARY: Final = (
    "id",
    "epoch",
    "input",
    "target",
    "metadata",
    "scores",
    "model_usage",
    "started_at",
    "completed_at",
    "total_time",
    "working_time",
    "uuid",
)
_SHORT: Final = 256
"""Characters of a text in a summary."""


def sample_json(dialogue: Dialogue, sample: Sample, created: datetime) -> dict[str, Any]:
    """Return the whole sample; `created` stands for times that the journal does not have."""
    model, cell, item, repeat = dialogue.place
    first, last = span(sample.asked, created)
    used = usage_by_model(dialogue, sample.asked)
    told = [message_json(message) for message in sample.last.messages or ()]
    found: dict[str, Any] = {
        "id": sample.id,
        "epoch": repeat + EPOCHS_FROM,
        "input": sample.question,
        "target": list(sample.target) if len(sample.target) > 1 else "".join(sample.target),
        "messages": [*told, _answer_json(sample.last.answer, dialogue.model.id)],
        "output": _output_json(sample.last, dialogue.model.id),
        "scores": {name: _score_json(scored) for name, scored in sample.scores.items()},
        "metadata": {**sample.metadata, "dialogue": dialogue.transcript.unit, "marks": list(dialogue.marks)},
        "store": {},
        "events": [],
        "model_usage": used,
        "started_at": first.isoformat(),
        "completed_at": last.isoformat(),
        "total_time": (last - first).total_seconds(),
        "working_time": sum(asked.line.get("took", 0.0) for asked in sample.asked),
        "uuid": f"{model}/{cell}/{item}/{sample.id}/{repeat}",
        "attachments": {},
    }
    if sample.fault:
        found["error"] = {"message": sample.fault, "traceback": "", "traceback_ansi": ""}
    return found


def summary_json(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the viewer's list shows of a sample."""
    found = {name: _cut(sample[name]) for name in _IN_SUMMARY}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {**found, **error, "completed": True, "message_count": len(sample["messages"])}


def message_json(message: Message) -> dict[str, Json]:
    """Return a message of a prompt."""
    return {"role": message.role, "content": message.content}


def usage_by_model(dialogue: Dialogue, answers: Iterable[Asked]) -> dict[str, dict[str, Any]]:
    """Return the tokens of answers by model id. Inspect's input tokens are those that no cache served or took."""
    found: dict[str, dict[str, Any]] = {}
    for asked in answers:
        name = dialogue.models[asked.model].id if asked.model in dialogue.models else asked.model
        add_usage(found.setdefault(name, {}), usage_json(asked))
    return found


def add_usage(total: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add tokens and cost to a total."""
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def usage_json(asked: Asked) -> dict[str, Any]:
    """Return the tokens of one answer and what it cost, as far as they are known."""
    usage = asked.answer.usage
    if usage is None:
        return {}
    found: dict[str, Any] = {
        "input_tokens": max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens),
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "input_tokens_cache_write": usage.cache_write_tokens,
        "input_tokens_cache_read": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
    return {**found, "total_cost": float(Decimal(asked.line["usd"]))} if "usd" in asked.line else found


def _answer_json(answer: Answer, model: str) -> dict[str, Any]:
    text: Any = answer.text
    if answer.reasoning:
        text = [{"type": "reasoning", "reasoning": answer.reasoning}, {"type": "text", "text": answer.text}]
    return {"role": "assistant", "content": text, "source": "generate", "model": model}


def _output_json(asked: Asked, model: str) -> dict[str, Any]:
    answer = asked.answer
    choice = {"message": _answer_json(answer, model), "stop_reason": _STOPS[answer.finish]}
    return {
        "model": answer.model,
        "choices": [choice],
        "completion": answer.text,
        "usage": usage_json(asked) or None,
        "time": asked.line.get("took"),
    }


def _score_json(scored: Scored) -> dict[str, Any]:
    return {
        "value": "C" if scored.holds else "I",
        "answer": scored.answer,
        "explanation": scored.why,
        "metadata": dict(scored.details),
    }


def _cut(value: Json) -> Json:
    """Return a value with its texts cut, and without lists inside of objects."""
    match value:
        case str():
            return value if len(value) <= _SHORT else f"{value[:_SHORT]}..."
        case dict():
            return {name: _cut(item) for name, item in value.items() if not isinstance(item, list)}
        case list():
            return [_cut(item) for item in value]
        case _:
            return value
