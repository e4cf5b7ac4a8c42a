"""A planted key, and every place in which a run, its reports and its failures could show it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from turntide.adapters.base import ConfigurationError, Json
from turntide.engine.cli import main
from turntide.engine.folder.manifest import Manifest

from tests.support.toy import run_toy, toy_spec

PLANTED = "sk-planted-0123456789-abcdef"
ROOT = Path(__file__).parents[3]


def _quoted(request: web.Request) -> str:
    return request.headers.get("authorization", "none").removeprefix("Bearer ")


class Indiscreet:
    """A chat server that quotes the key that it was sent: in answers, ids, errors of every status, and headers."""

    def __init__(self) -> None:
        self.seen = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen += 1
        key = _quoted(request)
        assert key == PLANTED
        headers = {"x-request-id": key, "x-ratelimit-limit-requests": key}
        match self.seen % 4:
            case 0:
                status = [429, 500, 503][self.seen // 4 % 3]
                body: dict[str, object] = {"error": {"message": f"Slow down, {key}", "type": key, "code": key}}
                return web.json_response(body, status=status, headers={**headers, "retry-after": "0.01"})
            case 1:
                return web.Response(text=f"<html>{key}", headers=headers)
            case _:
                message = {"role": "assistant", "content": f"SELECT '{key}'", "reasoning_content": key}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
                reply = {"id": key, "object": "chat.completion", "model": key, "choices": [choice], "usage": usage}
                return web.json_response(reply, headers=headers)


@asynccontextmanager
async def serving(handler: Indiscreet) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def turntide(folder: Path, base_url: str, *words: str) -> tuple[int | None, str]:
    """Run a command as verbosely as Python can; return its exit code and all that it said."""
    environ = {"OPENAI_API_KEY": PLANTED, "OPENAI_BASE_URL": base_url, "PYTHONASYNCIODEBUG": "1"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "dev", "-W", "ignore", "-m", "turntide.engine.cli", *words),
        cwd=folder,
        env={**os.environ, **environ},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode, said.decode()


async def test_a_key_that_a_host_quotes_everywhere_shows_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    handler = Indiscreet()
    monkeypatch.chdir(tmp_path)
    run = ["run", "enterprisemem", "--condition", "A", "--limit", "12", "--out", "run", "--model", "openai/gpt-4o"]
    fast = ["--retries", "1", "--backoff", "0.01", "--max-errors", "4", "--max-tokens", "50"]
    async with serving(handler) as base_url:
        monkeypatch.setenv("OPENAI_API_KEY", PLANTED)
        monkeypatch.setenv("OPENAI_BASE_URL", base_url)
        probes = [await said(capfd, "probe", "openai/gpt-4o", *more) for more in ([], [], ["--json"], ["--json"])]
        assert {code for code, _ in probes} == {0, 2}  # they met answers and failures
        code, text = await turntide(tmp_path, base_url, *run, *fast)
        assert code == 3
    texts = [text, *(shown for _, shown in probes)]
    for words in (["status"], ["report", "--operations"]):
        for more in ([], ["--json"]):
            code, shown = await said(capfd, *words, "run", *more)
            assert code == 0
            texts.append(shown)
    assert [shown for shown in texts if PLANTED in shown] == []
    assert sum("***" in shown for shown in texts) > 5
    left = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"manifest.json", "journal.jsonl", "summary.json"} <= left.keys()
    assert [name for name, content in left.items() if PLANTED.encode() in content] == []
    lines = [json.loads(line) for line in left["journal.jsonl"].splitlines()]
    assert {"answer", "fail"} <= {line["k"] for line in lines if "***" in json.dumps(line)}


async def said(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Run a command here, beside the server; return its exit code and all that it said."""
    code = await asyncio.to_thread(main, words)
    return code, "".join(capfd.readouterr())


async def test_a_run_keeps_no_login_of_a_url_that_an_option_holds(tmp_path: Path) -> None:
    urls: list[Json] = [f"redis://:{PLANTED}@127.0.0.1:6379/0", f"http://127.0.0.1:8000/v1?token={PLANTED}"]
    spec = toy_spec(options={"redis": urls[0], "others": {"more": urls}})
    with pytest.raises(ConfigurationError, match="nothing to run"):  # by then the manifest is written
        await run_toy(tmp_path / "run", "http://127.0.0.1:9", units=0, spec=spec)
    kept = Manifest.load(tmp_path / "run").settings["spec"]["options"]
    assert kept == {
        "redis": "redis://127.0.0.1:6379/0",
        "others": {"more": ["redis://127.0.0.1:6379/0", "http://127.0.0.1:8000/v1"]},
    }
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in left if PLANTED.encode() in path.read_bytes()] == []


CRASH = """
import asyncio, logging, sys
from pathlib import Path
from tests.support.toy import Toy, run_toy, toy_spec
from turntide.adapters.transport import HttpxTransport
from turntide.engine.spec import Settings

logging.basicConfig(level=logging.DEBUG)
kind = sys.argv[2]

async def send(self, account, request, headers, deadline):
    raise RuntimeError(f"the transport is broken for {account} and {account.key}")

if kind == "transport":
    HttpxTransport.send = send
folder = Path(sys.argv[1])
toy = Toy(folder.parent / "data", 6, crash_in="0002" if kind == "benchmark" else "")
spec = toy_spec("openai/gpt-4o", settings=Settings(sql_workers=1, retries=9, backoff=0.001))
summary = asyncio.run(run_toy(folder, "", spec=spec, toy=toy, environ=__import__("os").environ))
print(summary, *summary.reasons)
if kind == "uncaught":
    from turntide.engine.calls.routes import open_routes
    from turntide.engine.calls.turnstile import Purse
    from turntide.engine.calls.budget import Budget
    routes = open_routes(spec, (), Purse(Budget()), lambda: 0.0, print)
    raise RuntimeError(routes, vars(toy))
"""


@pytest.mark.parametrize("kind", ["transport", "benchmark", "uncaught"])
async def test_no_traceback_or_log_of_a_crash_shows_a_key(tmp_path: Path, kind: str) -> None:
    async with serving(Indiscreet()) as base_url:
        environ = {"OPENAI_API_KEY": PLANTED, "OPENAI_BASE_URL": base_url, "PYTHONASYNCIODEBUG": "1"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-X", "dev", "-W", "ignore", "-c", CRASH, str(tmp_path / "run"), kind),
            cwd=ROOT,
            env={**os.environ, **environ},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await asyncio.wait_for(process.communicate(), 60)
    assert b"Traceback" in said
    assert {"transport": b"broken for", "benchmark": b"ZeroDivisionError", "uncaught": b"RuntimeError"}[kind] in said
    assert PLANTED.encode() not in said
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in left if PLANTED.encode() in path.read_bytes()] == []
