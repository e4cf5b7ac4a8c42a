"""Where spans go: to an OTLP endpoint over HTTP, or to a file of OTLP JSON."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from ...adapters.base import ConfigurationError
from ...adapters.redaction import public_url

TIMEOUT: Final = 30.0
"""Seconds that an endpoint has to take a batch, its exporter's retries among them."""

_IDS: Final = ("traceId", "spanId", "parentSpanId")


class Endpoint:
    """An OTLP endpoint, by its full URL (`http://localhost:4318/v1/traces`).

    Headers, such as those that carry a key, come from OTEL_EXPORTER_OTLP_HEADERS, as for any program.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._exporter = OTLPSpanExporter(endpoint=url, timeout=TIMEOUT)

    def send(self, spans: list[ReadableSpan]) -> None:
        """Send a batch; raises ConfigurationError when it was not taken."""
        if self._exporter.export(spans) is not SpanExportResult.SUCCESS:
            raise ConfigurationError(
                f"{public_url(self._url)} did not take the spans. Check that an OTLP receiver listens there (its path "
                "is usually /v1/traces) and that OTEL_EXPORTER_OTLP_HEADERS holds what it asks for; sending again is "
                "harmless."
            )

    def close(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()


class JsonFile:
    """A file with one OTLP JSON message a line, as collectors' file receivers read it: ids are hexadecimal."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("x", encoding="utf-8")

    def send(self, spans: list[ReadableSpan]) -> None:
        """Write a batch as one line."""
        message: Any = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
        for resource in message["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    span.update({name: b64decode(span[name]).hex() for name in _IDS if name in span})
        self._file.write(json.dumps(message, ensure_ascii=False, sort_keys=True) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
