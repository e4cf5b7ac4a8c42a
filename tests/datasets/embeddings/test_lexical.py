"""The lexical embedder, and that nobody gets it unasked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from turntide.adapters.base import ConfigurationError
from turntide.datasets.embeddings.choice import open_embedder
from turntide.datasets.embeddings.lexical import Lexical


@given(st.lists(st.text(), max_size=5))
async def test_every_text_has_a_unit_vector(texts: list[str]) -> None:
    vectors = await Lexical().embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


async def test_shared_wording_is_near_and_the_vectors_never_change() -> None:
    vectors = await Lexical().embed(["Which year was higher?", "Which year was highest?", "Count the loans."])
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > 0.7 > 0.3 > far
    assert np.flatnonzero((await Lexical().embed(["a"]))[0]).tolist() == [195, 321]


def test_embedders_have_names_and_none_stands_in_for_another(tmp_path: Path) -> None:
    assert open_embedder("lexical", {}).identity() == {"name": "lexical", "version": 1}
    with pytest.raises(ConfigurationError, match="turntide models install"):
        open_embedder("minilm", {"TURNTIDE_CACHE": str(tmp_path)})
    with pytest.raises(ConfigurationError, match=r"is not in .*nowhere"):
        open_embedder("minilm", {"TURNTIDE_MINILM": str(tmp_path / "nowhere")})
    with pytest.raises(ConfigurationError, match="Choose minilm"):
        open_embedder("word2vec", {})
