"""Just enough of the ONNX file format to write a graph, byte for byte the same on every machine.

An ONNX file is one protocol-buffers message (`onnx.proto`, IR version 8). Field numbers are named where they are used.
Writing it here keeps a second heavy package out of `turntide models install`, and makes the built model's sha256 a
constant that can be checked and compared between machines.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IR_VERSION = 8
OPSET = 17
FLOAT, INT64 = 1, 7

Attribute = int | float | Sequence[int]


class Graph:
    """A graph under construction: every method that adds something returns the name of the value it makes."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._initializers: list[bytes] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a tensor; `values` is float32 or int64, stored little-endian."""
        kind = FLOAT if values.dtype == np.float32 else INT64
        raw = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        dims = b"".join(_integer(1, size) for size in values.shape)
        self._initializers.append(_message(5, dims, _integer(2, kind), _text(8, name), _message(9, raw)))
        return name

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Attribute) -> str:
        """Add a node with one output and return its name."""
        name = output or f"{kind}_{len(self._nodes)}"
        parts = [_text(1, value) for value in inputs]
        parts += [_text(2, name), _text(3, name), _text(4, kind)]
        parts += [_attribute(key, value) for key, value in attributes.items()]
        self._nodes.append(_message(1, *parts))
        return name

    def write(
        self, name: str, inputs: Mapping[str, Sequence[str | int]], output: tuple[str, Sequence[str | int]]
    ) -> bytes:
        """Return the whole file; inputs are int64 and the output float32, with their shapes (a name is a free size)."""
        values = [_message(11, _value(key, INT64, shape)) for key, shape in inputs.items()]
        values.append(_message(12, _value(output[0], FLOAT, output[1])))
        graph = _message(7, *self._nodes, _text(2, name), *self._initializers, *values)
        return b"".join((_integer(1, IR_VERSION), _text(2, "turntide"), graph, _message(8, _integer(2, OPSET))))


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    dims = (_message(1, _integer(1, size) if isinstance(size, int) else _text(2, size)) for size in shape)
    tensor = _message(1, _integer(1, kind), _message(2, *dims))
    return _text(1, name) + _message(2, tensor)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _message(5, _text(1, name), b"\x15" + struct.pack("<f", value), _integer(20, 1))
    if isinstance(value, int):
        return _message(5, _text(1, name), _integer(3, value), _integer(20, 2))
    return _message(5, _text(1, name), *(_integer(8, item) for item in value), _integer(20, 7))


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are ten bytes of two's complement
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, *parts: bytes) -> bytes:
    return b"".join((_varint(field << 3 | 2), _varint(sum(map(len, parts))), *parts))


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())
