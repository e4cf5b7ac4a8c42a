"""Files that we write are read by onnxruntime, and say what numpy says."""

from __future__ import annotations

import json
import struct
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from turntide.datasets.embeddings.bert import minilm_onnx, read_safetensors
from turntide.datasets.embeddings.onnx_file import Graph

WIDTH, INNER = 384, 1536


def run(model: bytes, **feeds: Any) -> Any:
    pytest.importorskip("onnxruntime")
    onnxruntime: Any = import_module("onnxruntime")
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def test_a_graph_with_every_kind_of_attribute_is_read_back() -> None:
    graph = Graph()
    table = graph.constant("table", np.arange(12, dtype=np.float32).reshape(4, 3))
    rows = graph.op("Gather", table, "ids")
    ones, zeros = (graph.constant(name, np.full(3, value, np.float32)) for name, value in (("g", 1), ("b", 0)))
    normal = graph.op("LayerNormalization", rows, ones, zeros, axis=-1, epsilon=0.5)
    graph.op("Transpose", normal, output="out", perm=(1, 0))
    model = graph.write("test", {"ids": ("n",)}, ("out", (3, "n")))
    expected = np.tile((np.array([-1, 0, 1]) / np.sqrt(2 / 3 + 0.5))[:, None], (1, 2))
    assert np.allclose(run(model, ids=np.array([3, 1])), expected, atol=1e-6)


def test_the_network_is_bert_as_numpy_computes_it() -> None:
    weights = random_weights()
    model = minilm_onnx(weights)
    assert model == minilm_onnx(weights)
    ids = np.array([[5, 3, 9, 1], [7, 2, 0, 0]])
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    hidden = run(model, input_ids=ids, attention_mask=mask, token_type_ids=np.zeros_like(ids))
    assert hidden.shape == (2, 4, WIDTH)
    assert np.allclose(hidden[0], reference(weights, ids[0]), atol=2e-4)
    assert np.allclose(hidden[1, :2], reference(weights, ids[1, :2]), atol=2e-4)  # padding changes nothing


def test_safetensors_are_read_by_name_and_shape(tmp_path: Path) -> None:
    values = np.arange(6, dtype="<f4")
    entry = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "a.weight": entry}).encode()
    (tmp_path / "m.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values.tobytes())
    tensors = read_safetensors(tmp_path / "m.safetensors")
    assert list(tensors) == ["a.weight"]
    assert np.array_equal(tensors["a.weight"], values.reshape(2, 3))


def random_weights() -> dict[str, Any]:
    generator = np.random.default_rng(3)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (10, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.position_embeddings.weight": (8, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{index}" for index in range(6)):
        attention = [f"attention.self.{part}" for part in ("query", "key", "value")]
        sizes = {**dict.fromkeys([*attention, "attention.output.dense"], (WIDTH, WIDTH))}
        sizes |= {"intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}
        for name, size in sizes.items():
            shapes |= {f"{layer}.{name}.weight": size, f"{layer}.{name}.bias": size[:1]}
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    shapes |= {f"{norm}.{part}": (WIDTH,) for norm in norms for part in ("weight", "bias")}
    return {name: (0.08 * generator.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}


def reference(weights: dict[str, Any], ids: Any) -> Any:
    """A BERT encoder for one unpadded text, as the paper writes it."""
    from math import erf

    def linear(name: str, x: Any) -> Any:
        return x @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]

    def normal(name: str, x: Any) -> Any:
        spread = np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return (x - x.mean(-1, keepdims=True)) / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(x: Any) -> Any:
        return x.reshape(len(ids), 12, 32).transpose(1, 0, 2)

    words = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    places = weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = normal("embeddings.LayerNorm", words + weights["embeddings.token_type_embeddings.weight"][0] + places)
    for layer in (f"encoder.layer.{index}" for index in range(6)):
        query, key, value = (heads(linear(f"{layer}.attention.self.{part}", x)) for part in ("query", "key", "value"))
        scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(32))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        attended = linear(f"{layer}.attention.output.dense", mixed)
        x = normal(f"{layer}.attention.output.LayerNorm", attended + x)
        wide = linear(f"{layer}.intermediate.dense", x)
        bent = wide * 0.5 * (1 + np.vectorize(erf)(wide / np.sqrt(2)))
        x = normal(f"{layer}.output.LayerNorm", linear(f"{layer}.output.dense", bent) + x)
    return x
