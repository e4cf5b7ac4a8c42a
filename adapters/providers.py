"""The hosts that can be named in `provider/model`, as data; `pyproject.toml` registers each as an entry point.

Their names are those of `prices.toml` and `models.toml`. Base URLs and variables as the hosts' own documentation and
clients have them (read 2026-11-30).
"""

from __future__ import annotations

from typing import Final

from .anthropic import AnthropicMessages
from .batches.anthropic import AnthropicBatches
from .batches.openai import OpenAIBatches
from .gemini import GeminiContent
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses
from .provider import Provider

_CHAT: Final = OpenAIChat()
_PLAIN_CHAT: Final = OpenAIChat(max_tokens_field="max_tokens")
_RESPONSES: Final = OpenAIResponses()
_DAY: Final = 86_400.0

openai = Provider(
    name="openai",
    wire=_CHAT,
    formats={"chat": _CHAT, "responses": _RESPONSES},
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    url_variables=("OPENAI_BASE_URL",),
    batches=(OpenAIBatches(),),
)

anthropic = Provider(
    name="anthropic",
    wire=AnthropicMessages(),
    base_url="https://api.anthropic.com",
    key_variables=("ANTHROPIC_API_KEY",),
    url_variables=("ANTHROPIC_BASE_URL",),
    batches=(AnthropicBatches(),),
)

google = Provider(
    name="google",
    wire=GeminiContent(),
    base_url="https://generativelanguage.googleapis.com",
    key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    url_variables=("GOOGLE_GEMINI_BASE_URL",),
)

xai = Provider(
    name="xai",
    wire=_CHAT,
    formats={"chat": _CHAT, "responses": _RESPONSES},
    base_url="https://api.x.ai/v1",
    key_variables=("XAI_API_KEY",),
    url_variables=("XAI_BASE_URL",),
)

deepseek = Provider(
    name="deepseek",
    wire=_PLAIN_CHAT,
    base_url="https://api.deepseek.com",
    key_variables=("DEEPSEEK_API_KEY",),
    url_variables=("DEEPSEEK_BASE_URL",),
)

alibaba = Provider(
    name="alibaba",
    wire=OpenAIChat(max_tokens_field="max_tokens", quota_passes=True),
    base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    key_variables=("DASHSCOPE_API_KEY",),
    url_variables=("DASHSCOPE_BASE_URL",),
)
"""Model Studio in Singapore, where the shipped prices hold; a key of another region needs that region's base URL."""

together = Provider(
    name="together",
    wire=_PLAIN_CHAT,
    base_url="https://api.together.ai/v1",
    key_variables=("TOGETHER_API_KEY",),
    url_variables=("TOGETHER_BASE_URL",),
)

groq = Provider(
    name="groq",
    wire=OpenAIChat(requests_window=_DAY),
    base_url="https://api.groq.com/openai/v1",
    key_variables=("GROQ_API_KEY",),
    url_variables=("GROQ_BASE_URL",),
)

openrouter = Provider(
    name="openrouter",
    wire=_PLAIN_CHAT,
    base_url="https://openrouter.ai/api/v1",
    key_variables=("OPENROUTER_API_KEY",),
    url_variables=("OPENROUTER_BASE_URL",),
)

compatible = Provider(
    name="compatible",
    wire=_PLAIN_CHAT,
    formats={"chat": _PLAIN_CHAT, "responses": _RESPONSES, "anthropic": AnthropicMessages()},
    key_variables=("TURNTIDE_COMPATIBLE_API_KEY",),
    url_variables=("TURNTIDE_COMPATIBLE_BASE_URL",),
)
"""Any host that copies one of these formats and bills for it: under a cap its price comes from the user's own file."""

local = Provider(
    name="local",
    wire=_PLAIN_CHAT,
    formats={
        "chat": _PLAIN_CHAT,
        "responses": OpenAIResponses(copied=True),
        "anthropic": AnthropicMessages(root="", schemas=False),
    },
    key_variables=("TURNTIDE_LOCAL_API_KEY",),
    url_variables=("TURNTIDE_LOCAL_BASE_URL",),
    in_flight_variables=("TURNTIDE_LOCAL_IN_FLIGHT",),
    free=True,
)
"""A server of one's own (vLLM, llama.cpp, Ollama): free, and with a key only if it wants one. Its base URL ends with
`/v1` in every format."""
