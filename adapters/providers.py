"""The hosts that can be named in `provider/model`, as data; `pyproject.toml` registers each as an entry point."""

from __future__ import annotations

from .base import Provider
from .openai_chat import OpenAIChat

openai = Provider(
    name="openai",
    wire=OpenAIChat(),
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    url_variables=("OPENAI_BASE_URL",),
)

compatible = Provider(
    name="compatible",
    wire=OpenAIChat(max_tokens_field="max_tokens"),
    key_variables=("TURNTIDE_COMPATIBLE_API_KEY",),
    url_variables=("TURNTIDE_COMPATIBLE_BASE_URL",),
)
"""Any host that copies OpenAI's format and bills for it: under a cap its price comes from the user's own file."""

local = Provider(
    name="local",
    wire=OpenAIChat(max_tokens_field="max_tokens"),
    key_variables=("TURNTIDE_LOCAL_API_KEY",),
    url_variables=("TURNTIDE_LOCAL_BASE_URL",),
    free=True,
)
"""A server of one's own (vLLM, llama.cpp, Ollama): free, and with a key only if it wants one."""
