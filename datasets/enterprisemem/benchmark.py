"""EnterpriseMem-Bench as a plugin of the engine: its options, and how it is opened on its data."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...adapters.base import ConfigurationError, Json
from ...engine.spec import checked
from ...engine.unit import Experiment
from ..arguments import add_places, require_both
from .conditions import BY_NAME, CONDITIONS

if TYPE_CHECKING:
    from ...engine.benchmark import Arguments, Subparsers
    from ..databases import SourceDatabase
    from ..embeddings.base import Embedder
    from .memories import Memories
    from .sessions import Session


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The benchmark's options, as a specification file's `[options]` may hold them too."""

    sessions: str = ""
    data: str = ""
    databases: dict[str, str] = {}
    conditions: list[str] = msgspec.field(default_factory=lambda: list(BY_NAME))
    order: str = "sequential"
    state: str = "gold"
    embedder: str = "minilm"
    minilm: str = ""
    redis: str = ""
    chroma: str = ""


class EnterpriseMem:
    """The benchmark of arXiv 2605.26394."""

    name = "enterprisemem"
    summary = "EnterpriseMem-Bench: five memory conditions over 300 sessions of 1,400 turns"

    def add_arguments(self, parser: Arguments) -> None:
        """Add the benchmark's options of `turntide run`."""
        parser.add_argument("--sessions", metavar="FILE", help="a session file (default: ours, over synthetic data)")
        add_places(parser, data="folder with the real databases")
        parser.add_argument(
            "--condition",
            dest="conditions",
            action="append",
            choices=list(BY_NAME),
            help="a memory condition; may be repeated (default: all five)",
        )
        parser.add_argument(
            "--order", metavar="ORDER", help="sequential (default), waves:K or isolated: which sessions C and D see"
        )
        parser.add_argument(
            "--state", choices=["gold", "none"], help="write the session file's state updates to memory, or none"
        )
        parser.add_argument("--embedder", metavar="NAME", help="minilm (default) or lexical")
        parser.add_argument("--minilm", metavar="DIR", help="folder with model.onnx and tokenizer.json")
        parser.add_argument("--redis", metavar="URL", help="keep working memory in Redis instead of in process")
        parser.add_argument("--chroma", metavar="WHERE", help="keep episodes in ChromaDB: memory, a folder, or a URL")

    def add_commands(self, commands: Subparsers) -> None:
        """The benchmark brings no commands of its own; `turntide data` serves it."""

    @asynccontextmanager
    async def open(self, options: Mapping[str, Json], *, seed: int, limit: int | None) -> AsyncGenerator[Experiment]:
        """Open sessions, databases and memories. Raises ConfigurationError that says what is missing or wrong."""
        chosen = _checked(options)
        async with AsyncExitStack() as stack:
            yield await _opened(chosen, limit, stack)


async def _opened(chosen: Options, limit: int | None, stack: AsyncExitStack) -> Experiment:
    from .experiment import EnterpriseMemExperiment, Setup
    from .memory.horizon import SessionOrder

    conditions = tuple(condition for condition in CONDITIONS if condition.name in chosen.conditions)
    order = SessionOrder.parse(chosen.order)
    sessions, digest, databases = _data(chosen, limit)
    memories = await _memories(chosen, stack)
    setup = Setup(
        sessions=sessions,
        sessions_sha256=digest,
        databases=databases,
        conditions=conditions,
        order=order,
        state=chosen.state == "gold",
    )
    return EnterpriseMemExperiment(setup, memories)


def _data(chosen: Options, limit: int | None) -> tuple[tuple[Session, ...], str, Mapping[str, SourceDatabase]]:
    from ...engine.system.digests import file_digest
    from ..databases import placed
    from .embedded import embedded_sessions
    from .sessions import load_sessions

    require_both(
        "sessions",
        "--sessions FILE",
        chosen.sessions,
        places=bool(chosen.data or chosen.databases),
        remedy=(
            "Build sessions over your databases with `turntide data build enterprisemem --data DIR --out FILE`, or "
            "name neither for the synthetic default."
        ),
    )
    path = Path(chosen.sessions) if chosen.sessions else embedded_sessions()
    sessions = load_sessions(path)[:limit]
    databases = placed(dict.fromkeys(session.database for session in sessions), chosen.data, chosen.databases)
    return sessions, file_digest(path), databases


async def _memories(chosen: Options, stack: AsyncExitStack) -> Memories:
    import secrets

    from .memories import Memories
    from .memory.working import InProcessWorking, WorkingMemory

    # Never trusted across processes: memory is rebuilt from the journal, so each part of a run has names of its own.
    namespace = f"turntide-{secrets.token_hex(6)}"
    working: WorkingMemory = InProcessWorking()
    if chosen.redis:
        from .memory.redis_working import RedisWorking

        working = await RedisWorking.open(chosen.redis, namespace)
        stack.push_async_callback(working.aclose)
    embedder = _embedder(chosen, stack)
    chroma = None
    if chosen.chroma and embedder:
        from .memory.chroma_store import ChromaStore

        chroma = await ChromaStore.open(chosen.chroma)
        stack.push_async_callback(chroma.aclose)
    return Memories(namespace, working, embedder, chroma)


def _embedder(chosen: Options, stack: AsyncExitStack) -> Embedder | None:
    """Open the embedder when a condition retrieves."""
    if not any(BY_NAME[name].episodic_top_k or BY_NAME[name].semantic_top_k for name in chosen.conditions):
        return None
    from ..embeddings.choice import open_embedder

    embedder = open_embedder(chosen.embedder, os.environ, Path(chosen.minilm) if chosen.minilm else None)
    stack.push_async_callback(embedder.aclose)
    return embedder


def _checked(options: Mapping[str, Any]) -> Options:
    chosen = checked(dict(options), Options, "enterprisemem, options")
    if unknown := sorted(set(chosen.conditions) - BY_NAME.keys()):
        raise ConfigurationError(f"unknown condition {unknown[0]!r}; there are {', '.join(BY_NAME)}")
    if not chosen.conditions:
        raise ConfigurationError("no condition: name at least one with --condition")
    if chosen.state not in ("gold", "none"):
        raise ConfigurationError(f"state is gold or none, not {chosen.state!r}")
    return chosen


benchmark = EnterpriseMem()
"""What the entry point loads to."""
