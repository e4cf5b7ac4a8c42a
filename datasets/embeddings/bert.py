"""all-MiniLM-L6-v2's network as an ONNX graph, built from the published weights.

A BERT encoder (Devlin et al. 2019) of 6 layers, 12 heads and 384 units, with the exact (erf) GELU. The graph has the
inputs and the output of the usual export: `input_ids`, `attention_mask`, `token_type_ids` (batch, sequence) int64 in,
`last_hidden_state` (batch, sequence, 384) float32 out. Pooling belongs to the caller.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .onnx_file import Graph

LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12

Weights = Mapping[str, NDArray[Any]]


def read_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a safetensors file, by name: a length, a JSON header, then the raw little-endian bytes."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    header: dict[str, Any] = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    kinds = {"F32": "<f4", "I64": "<i8"}
    tensors: dict[str, NDArray[Any]] = {}
    for name, entry in header.items():
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(raw[start:end], kinds[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def minilm_onnx(weights: Weights) -> bytes:
    """Return the ONNX file for `weights` (names as in the published safetensors file); the same bytes everywhere."""
    encoder = _Encoder(weights)
    hidden = encoder.embed()
    mask = encoder.mask()
    for layer in range(LAYERS):
        hidden = encoder.layer(f"encoder.layer.{layer}", hidden, mask, last=layer == LAYERS - 1)
    tokens = ("batch", "sequence")
    inputs: dict[str, Sequence[str | int]] = dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), tokens)
    return encoder.graph.write("all-MiniLM-L6-v2", inputs, ("last_hidden_state", (*tokens, WIDTH)))


class _Encoder:
    """Turns named weights into nodes; methods take and return names of values."""

    def __init__(self, weights: Weights) -> None:
        self.graph = Graph()
        self._weights = weights
        constant = self.graph.constant
        self._heads = constant("shape.heads", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
        self._merged = constant("shape.merged", np.array([0, 0, WIDTH], np.int64))
        self._scale = constant("scale", np.array(math.sqrt(WIDTH / HEADS), np.float32))
        self._half = constant("half", np.array(0.5, np.float32))
        self._one = constant("one", np.array(1.0, np.float32))
        self._root = constant("root", np.array(math.sqrt(2.0), np.float32))

    def embed(self) -> str:
        """Sum the word, type and position embeddings and normalise them."""
        op, constant = self.graph.op, self.graph.constant
        words = op("Gather", self._weight("embeddings.word_embeddings.weight"), "input_ids")
        types = op("Gather", self._weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        length = op("Shape", "input_ids", start=1, end=2)
        zero = constant("zero", np.array([0], np.int64))
        positions = op("Slice", self._weight("embeddings.position_embeddings.weight"), zero, length, zero)
        return self._normalise("embeddings.LayerNorm", op("Add", op("Add", words, types), positions))

    def mask(self) -> str:
        """Return what is added to the attention scores: 0 for a token, the lowest number for padding."""
        op, constant = self.graph.op, self.graph.constant
        kept = op("Cast", "attention_mask", to=1)
        spread = op("Unsqueeze", kept, constant("axes", np.array([1, 2], np.int64)))
        lowest = constant("lowest", np.array(np.finfo(np.float32).min, np.float32))
        return op("Mul", op("Sub", self._one, spread), lowest)

    def layer(self, name: str, hidden: str, mask: str, *, last: bool) -> str:
        """One transformer layer: attention and feed-forward, each with a residual and a normalisation."""
        op = self.graph.op
        attended = self._linear(
            f"{name}.attention.output.dense", self._attention(f"{name}.attention.self", hidden, mask)
        )
        hidden = self._normalise(f"{name}.attention.output.LayerNorm", op("Add", attended, hidden))
        wide = self._gelu(self._linear(f"{name}.intermediate.dense", hidden))
        narrow = self._linear(f"{name}.output.dense", wide)
        output = "last_hidden_state" if last else ""
        return self._normalise(f"{name}.output.LayerNorm", op("Add", narrow, hidden), output)

    def _attention(self, name: str, hidden: str, mask: str) -> str:
        op = self.graph.op

        def heads(part: str, order: tuple[int, ...]) -> str:
            split = op("Reshape", self._linear(f"{name}.{part}", hidden), self._heads)
            return op("Transpose", split, perm=order)

        scores = op("MatMul", heads("query", (0, 2, 1, 3)), heads("key", (0, 2, 3, 1)))
        weights = op("Softmax", op("Add", op("Div", scores, self._scale), mask), axis=-1)
        mixed = op("MatMul", weights, heads("value", (0, 2, 1, 3)))
        return op("Reshape", op("Transpose", mixed, perm=(0, 2, 1, 3)), self._merged)

    def _gelu(self, value: str) -> str:
        op = self.graph.op
        bell = op("Add", op("Erf", op("Div", value, self._root)), self._one)
        return op("Mul", op("Mul", value, bell), self._half)

    def _linear(self, name: str, value: str) -> str:
        matrix = self.graph.constant(f"{name}.weight", self._weights[f"{name}.weight"].T)
        return self.graph.op("Add", self.graph.op("MatMul", value, matrix), self._weight(f"{name}.bias"))

    def _normalise(self, name: str, value: str, output: str = "") -> str:
        scale, shift = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self.graph.op("LayerNormalization", value, scale, shift, output=output, axis=-1, epsilon=EPSILON)

    def _weight(self, name: str) -> str:
        return self.graph.constant(name, self._weights[name])
