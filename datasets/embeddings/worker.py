"""The process that holds the model: `python -m turntide.datasets.embeddings.worker FOLDER [CACHE]`.

It answers length-prefixed requests on its standard input: a JSON list of texts in, a status byte and raw little-endian
float32 (n, 384) out (status 1: a message instead). It ends when its input does, so it never outlives its parent.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson

from .base import DIMENSIONS, Vector
from .vector_cache import VectorCache

MAX_TOKENS = 256
"""Word pieces, [CLS] and [SEP] included, as sentence-transformers cuts for this model (`max_seq_length`)."""


class Encoder:
    """The model itself: tokens, network, mean over the tokens, unit length.

    Texts go through one by one, without padding: a vector then depends on its text alone, whichever came with it. With
    one thread that costs a tenth of the speed of batches of 32 (206 against 229 short questions per CPU-second).
    """

    def __init__(self, folder: Path) -> None:
        # 0.2 s, and not needed while every text is in the cache.
        onnxruntime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {value.name for value in self._session.get_inputs()}
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def encode(self, text: str) -> Vector:
        """Return the unit vector of one text."""
        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden, *_) = self._session.run(None, {name: feeds[name] for name in self._inputs})
        mean = np.asarray(hidden, np.float32)[0].mean(axis=0, dtype=np.float64)
        if mean.shape != (DIMENSIONS,):
            raise ValueError(f"the model's first output is {np.shape(hidden)}, not (1, tokens, {DIMENSIONS})")
        return (mean / np.linalg.norm(mean)).astype(np.float32)


class Service:
    """Texts to vectors through the cache; the model is loaded at the first text that is not in it."""

    def __init__(self, folder: Path, cache: VectorCache) -> None:
        self._folder = folder
        self._cache = cache
        self._encoder: Encoder | None = None

    def vectors(self, texts: Sequence[str]) -> Vector:
        """Return (n, 384) float32."""
        found = self._cache.read(texts)
        fresh = {text: self._encode(text) for text in dict.fromkeys(texts) if text not in found}
        self._cache.write(fresh)
        return np.stack([found[text] if text in found else fresh[text] for text in texts])

    def _encode(self, text: str) -> Vector:
        if self._encoder is None:
            self._encoder = Encoder(self._folder)
        return self._encoder.encode(text)


def serve(service: Service, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer until the requests end."""
    while len(head := requests.read(4)) == 4:
        texts: list[str] = orjson.loads(requests.read(int.from_bytes(head, "little")))
        try:
            status, body = b"\0", service.vectors(texts).astype("<f4").tobytes()
        except Exception as error:  # whatever it is belongs to the parent, in words
            status, body = b"\1", f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        replies.write(len(body).to_bytes(4, "little") + status + body)
        replies.flush()


def main(arguments: Sequence[str]) -> None:
    """Serve on the standard streams; anything that prints goes to stderr instead of into the replies."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reply that nobody waits for any more ends it without a word
    folder, cache = Path(arguments[0]), Path(arguments[1]) if len(arguments) > 1 else None
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with closing(VectorCache(cache)) as vectors:
        serve(Service(folder, vectors), sys.stdin.buffer, replies)


if __name__ == "__main__":
    main(sys.argv[1:])
