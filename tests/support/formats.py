"""Every wire format that we speak, by the folder of its fixtures, at their time."""

from __future__ import annotations

from turntide.adapters.anthropic import AnthropicMessages
from turntide.adapters.base import WireFormat
from turntide.adapters.gemini import GeminiContent
from turntide.adapters.openai_chat import OpenAIChat
from turntide.adapters.openai_responses import OpenAIResponses

from .replies import NOW

FORMATS: dict[str, WireFormat] = {
    "openai_chat": OpenAIChat(clock=lambda: NOW),
    "openai_responses": OpenAIResponses(clock=lambda: NOW),
    "anthropic": AnthropicMessages(clock=lambda: NOW),
    "gemini": GeminiContent(clock=lambda: NOW),
}
