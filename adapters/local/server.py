"""llama.cpp's server as a child process: it holds the weights, and its threads never meet the sweep's.

The server is the one that llama.cpp ships (chat completions, responses and Anthropic's messages under one base URL);
`xllamacpp` (MIT) brings it as a library, and this module runs it in a process that ends with its holder.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from ..base import ConfigurationError
from ..child import ChildServer, first_line, say_failed, say_ready, start, until_orphaned
from .models import LocalModel

_MODULE: Final = "turntide.adapters.local"
_SILENT: Final = -1


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the child is told: the weights' file, the name that it answers to, its context, threads and key."""

    weights: str
    name: str
    context: int
    threads: int
    key: str


class LocalServer(ChildServer):
    """One model served on a free port of loopback, to whoever has its key.

    It works on one question at a time. The questions of a sweep share their beginnings (a schema of a thousand tokens),
    and a single slot reads each beginning once; several would read it once each, on the same processors.
    """

    def __init__(self, process: subprocess.Popen[bytes], base_url: str, key: str) -> None:
        super().__init__(process, base_url)
        self._key = key

    @classmethod
    def start(
        cls, model: LocalModel, weights: Path, *, threads: int | None = None, deadline: float = 60.0
    ) -> LocalServer:
        """Start a server and return once it listens; blocks for about a second, while the weights are read.

        `threads` is half of the processors unless said otherwise: the rest is the sweep's. Raises ConfigurationError
        when llama.cpp is not installed or does not come up within `deadline` seconds.
        """
        if find_spec("xllamacpp") is None:
            raise ConfigurationError(
                f"local/{model.name} needs llama.cpp's server. Run `pip install 'turntide[local]'`."
            )
        key = secrets.token_urlsafe(24)
        half = max(1, (os.cpu_count() or 1) // 2)
        config = Config(weights=str(weights), name=model.name, context=model.context, threads=threads or half, key=key)
        process, base_url = start(_MODULE, msgspec.json.encode(config), deadline, "llama.cpp's server")
        return cls(process, base_url, key)

    def environ(self) -> dict[str, str]:
        """Return the variables by which the provider `local` finds this server, its key, and how much it works on."""
        return {
            "TURNTIDE_LOCAL_BASE_URL": self.base_url,
            "TURNTIDE_LOCAL_API_KEY": self._key,
            "TURNTIDE_LOCAL_IN_FLIGHT": "1",
        }


def child() -> int:
    """Serve what stands on the first line of stdin until stdin ends; says on stdout how it went."""
    try:
        config = msgspec.json.decode(first_line(sys.stdin.fileno()), type=Config)
        with redirect_stdout(sys.stderr):
            server: Any = _serve(config)  # keeps serving while it is held
    except (ImportError, RuntimeError, msgspec.DecodeError) as error:
        say_failed(error)
        return 2
    say_ready(f"{server.listening_address}/v1")
    until_orphaned(sys.stdin.fileno())
    # An answer may still be on its way. Nobody is left to read it, and the library's own end would wait for it.
    os._exit(0)


def _serve(config: Config) -> object:
    """Return the running server of the library, which has no types."""
    llama: Any = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = config.weights
    params.model_alias = {config.name}
    params.api_keys = [config.key]
    params.n_parallel = 1
    params.n_ctx = config.context
    for processors in (params.cpuparams, params.cpuparams_batch):
        processors.n_threads = config.threads
        processors.poll = 0  # threads that wait for work sleep instead of spinning
    params.ui = False
    params.warmup = False
    params.verbosity = _SILENT
    return llama.Server(params)
