"""Spans of a run, as a receiver on loopback gets them and as a file holds them."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from turntide.engine.cli import main
from turntide.results.exports import otel

from ...support.sweeps import Sweep, Talk, write

SWEEP = Sweep(talks=[Talk(name="NW-2", turns=4)], conditions=("B",), options={"temperature": 0.5})


@contextmanager
def receiver(status: int = 200) -> Generator[tuple[str, list[dict[str, Any]]]]:
    """An OTLP receiver: its URL, and the spans that it got."""
    got: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            packed = self.headers.get("content-encoding") == "gzip"
            message = ExportTraceServiceRequest.FromString(gzip.decompress(body) if packed else body)
            got.extend(spans_of(MessageToDict(message)))
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name is its base's
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def spans_of(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in message["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def attributes(of: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: _value(each["value"]) for each in of["attributes"]}


def _value(value: dict[str, Any]) -> Any:
    ((kind, found),) = value.items()
    if kind == "arrayValue":
        return [_value(each) for each in found["values"]]
    return int(found) if kind == "intValue" else found


def _export(run: Path, out: str) -> None:
    assert main(["export", str(run), "--to", "otel", "--out", out]) == 0


def test_a_receiver_gets_a_trace_per_dialogue_with_a_client_span_per_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otel, "BATCH", 3)
    with receiver() as (url, got):
        _export(write(tmp_path / "run", SWEEP), url)
    root, *answers = got
    assert [span["name"] for span in got] == ["invoke_workflow EnterpriseMem-Bench", *["chat one"] * 4]
    assert {span["traceId"] for span in got} == {root["traceId"]}
    assert {span["parentSpanId"] for span in answers} == {root["spanId"]}
    assert len({span["spanId"] for span in got}) == 5
    first = attributes(answers[0])
    assert first == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "sim",
        "gen_ai.system": "sim",
        "gen_ai.conversation.id": "sim/one/B/NW-2/0",
        "gen_ai.request.model": "one",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.response.model": "one",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.usage.reasoning.output_tokens": 0,
        "turntide.model": "sim/one",
        "turntide.attempts": 1,
        "turntide.queue_seconds": 0.001,
        "turntide.usd": 0.001,
        "turntide.marks": ["SIMULATED", "SYNTHETIC"],
    }
    assert answers[0]["kind"] == "SPAN_KIND_CLIENT"
    took = int(answers[0]["endTimeUnixNano"]) - int(answers[0]["startTimeUnixNano"])
    assert (took, int(answers[0]["endTimeUnixNano"])) == (250_000_000, 1_800_000_001_000_000_000)
    scores = [attributes(event) for event in root["events"]]
    assert [score["turntide.sample"] for score in scores] == [f"NW-2:{turn}" for turn in range(1, 5)]
    assert {score["gen_ai.evaluation.score.label"] for score in scores} == {"pass"}


def test_a_file_holds_the_same_spans_and_has_the_same_bytes_again(tmp_path: Path) -> None:
    run = write(tmp_path / "run", SWEEP)
    for name in ("one.json", "two.json"):
        _export(run, str(tmp_path / name))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    (line,) = (tmp_path / "one.json").read_text().splitlines()
    spans = list(spans_of(json.loads(line)))
    assert [len(spans[0]["traceId"]), len(spans[1]["parentSpanId"]), spans[1]["kind"]] == [32, 16, 3]


def test_no_prompt_and_no_answer_leaves_the_machine(memory_run: Path, tmp_path: Path) -> None:
    _export(memory_run, str(tmp_path / "spans.json"))
    assert "SELECT" not in (tmp_path / "spans.json").read_text()


def test_an_endpoint_that_refuses_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run", SWEEP)
    with receiver(status=400) as (url, _):
        assert main(["export", str(run), "--to", "otel", "--out", url]) == 2
    assert f"{url} did not take the spans" in capsys.readouterr().err
