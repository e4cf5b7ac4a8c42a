"""The simulated provider as the engine knows it: `sim/MODEL`, free, without a key."""

from __future__ import annotations

from typing import Final

from ..base import Provider
from ..openai_chat import OpenAIChat
from .config import DEFAULT_PORT

provider: Final = Provider(
    name="sim",
    wire=OpenAIChat(),
    base_url=f"http://127.0.0.1:{DEFAULT_PORT}/v1",
    url_variables=("TURNTIDE_SIM_BASE_URL",),
    free=True,
)
