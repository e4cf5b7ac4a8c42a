"""The simulated provider as the engine knows it: `sim/MODEL`, free, with a key only where the server wants one."""

from __future__ import annotations

from typing import Final

from ..anthropic import AnthropicMessages
from ..batches.anthropic import AnthropicBatches
from ..batches.openai import OpenAIBatches
from ..gemini import GeminiContent
from ..openai_chat import OpenAIChat
from ..openai_responses import OpenAIResponses
from ..provider import Provider
from .config import DEFAULT_PORT

_CHAT: Final = OpenAIChat()

provider: Final = Provider(
    name="sim",
    wire=_CHAT,
    # One base URL, which ends with the version, serves all formats.
    formats={
        "chat": _CHAT,
        "responses": OpenAIResponses(),
        "anthropic": AnthropicMessages(root=""),
        "gemini": GeminiContent(root=""),
    },
    base_url=f"http://127.0.0.1:{DEFAULT_PORT}/v1",
    key_variables=("TURNTIDE_SIM_API_KEY",),
    url_variables=("TURNTIDE_SIM_BASE_URL",),
    free=True,
    batches=(OpenAIBatches(), AnthropicBatches(root="")),
)
