"""What no source of ours does: run text as code or through a shell, load code with data, or talk in the clear."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from .conftest import ROOT

FOLDERS = ("engine", "adapters", "datasets", "results", "bench", "requirements")

CODE_IN_DATA = (
    *("pickle", "_pickle", "marshal", "shelve", "dbm", "dill", "cloudpickle", "joblib", "yaml"),
    *("multiprocessing.connection", "multiprocessing.managers"),
)
"""Modules whose readers run what they read. The rest of `multiprocessing` pickles too, but between processes of ours,
over pipes that nobody else can open."""

NEVER = {
    *("builtins.eval", "builtins.exec", "builtins.compile", "builtins.__import__"),
    *("os.system", "os.popen", "os.startfile", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("asyncio.create_subprocess_shell", "asyncio.subprocess.create_subprocess_shell"),
    *("tempfile.mktemp", "os.tempnam", "shutil.unpack_archive"),
    *("ssl.CERT_NONE", "ssl._create_unverified_context"),
    *("pandas.read_pickle", "numpy.loads", "torch.load", "logging.config.listen"),
}
STARTERS = {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")}
SWITCHES = {"shell": True, "verify": False, "allow_pickle": True, "check_hostname": False}
"""Arguments and attributes that may not have these values, nor any that is not written out."""

IN_THE_CLEAR = re.compile(r"http://([\w.\[\]:]+)")
NEAR = ("127.0.0.1", "localhost", "[::1]", "HOST", "www.w3.org")
"""Where plain HTTP may go: this machine, a placeholder in a sentence, and names of XML that nobody fetches."""


def offences(source: str) -> list[str]:
    """Return what a source does that none of ours may, each with its line."""
    tree = ast.parse(source)
    names = dict(_imported(tree))
    nodes = list(ast.walk(tree))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    found = ((node, what) for node in nodes if id(node) not in prose for what in _offences(node, names))
    return [f"line {getattr(node, 'lineno', 0)}: {what}" for node, what in found]


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what each imported name stands for, in full."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                yield (each.asname, each.name) if each.asname else (top, top)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for each in node.names:
                yield each.asname or each.name, f"{node.module}.{each.name}"


def _full(node: ast.AST, names: dict[str, str]) -> str:
    """Return the full name of what an expression refers to: `os.system`, however `os` was imported."""
    match node:
        case ast.Name(id=name):
            return names.get(name, f"builtins.{name}")
        case ast.Attribute(value=value, attr=name):
            return f"{_full(value, names)}.{name}"
        case _:
            return ""


def _offences(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    match node:
        case ast.Import(names=modules):
            yield from (f"imports {each.name}" for each in modules if _holds_code(each.name))
        case ast.ImportFrom(module=str(module), level=0) if _holds_code(module):
            yield f"imports {module}"
        case ast.Name() | ast.Attribute() if _full(node, names) in NEVER:
            yield f"names {_full(node, names)}"
        case ast.Call(func=func, args=arguments, keywords=keywords):
            yield from _call(_full(func, names), arguments, keywords)
        case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=value) if _bad(attribute, value):
            yield f"sets {attribute}"
        case ast.List(elts=words) | ast.Tuple(elts=words):
            yield from _command(words, names)
        case ast.Constant(value=str(text)):
            yield from (
                f"talks in the clear to {host}" for host in IN_THE_CLEAR.findall(text) if not host.startswith(NEAR)
            )
        case _:
            pass


def _command(words: list[ast.expr], names: dict[str, str]) -> Iterator[str]:
    """Yield whether a command would find modules in the current folder, before ours: without -P, Python looks there."""
    for program, option, module in zip(words, words[1:], words[2:], strict=False):
        own = isinstance(module, ast.Name) and module.id == "__name__"  # of a module that was found there itself
        if (
            isinstance(option, ast.Constant)
            and option.value == "-m"
            and not own
            and _full(program, names) == "sys.executable"
        ):
            yield "runs a module that the current folder may hold"


def _call(name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[str]:
    yield from (f"passes {each.arg} to {name}" for each in keywords if each.arg and _bad(each.arg, each.value))
    first = arguments[0] if arguments else None
    if name in STARTERS and not isinstance(first, ast.List | ast.Tuple | ast.Name):
        yield f"does not give {name} a list"
    if name == "importlib.import_module" and isinstance(first, ast.Constant) and _holds_code(str(first.value)):
        yield f"imports {first.value}"


def _holds_code(module: str) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in CODE_IN_DATA)


def _bad(name: str, value: ast.expr) -> bool:
    return name in SWITCHES and not (isinstance(value, ast.Constant) and value.value is (not SWITCHES[name]))


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_source_runs_text_as_code_or_loads_code_with_data_or_talks_in_the_clear(folder: str) -> None:
    sources = sorted((ROOT / folder).rglob("*.py"))
    assert sources
    found = {str(path.relative_to(ROOT)): offences(path.read_text("utf-8")) for path in sources}
    assert {path: all_of_it for path, all_of_it in found.items() if all_of_it} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from multiprocessing.connection import Client",
        "import importlib\nimportlib.import_module('yaml')",
        "eval(text)",
        "run = exec",
        "import os as system\nsystem.system(text)",
        "from os import popen as read\nread(text)",
        "import subprocess\nsubprocess.run([text], shell=True)",
        "import subprocess\nsubprocess.run([text], shell=asked)",
        "import subprocess\nsubprocess.run(f'ls {text}')",
        "import subprocess as s\ns.Popen('ls')",
        "import asyncio\nasyncio.create_subprocess_shell(text)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "from tempfile import mktemp\nmktemp()",
        "import httpx\nhttpx.get(url, verify=False)",
        "import ssl\ncontext.verify_mode = ssl.CERT_NONE",
        "context.check_hostname = False",
        "import sys\nsubprocess.Popen([sys.executable, '-m', MODULE])",
        "url = 'http://example.org/v1'",
        "url = f'http://example.org/{path}'",
    ],
)
def test_each_of_these_would_be_found(source: str) -> None:
    assert len(offences(source)) == 1


def test_what_is_like_them_and_harmless_is_let_be() -> None:
    harmless = """
import re, subprocess, sys
re.compile(text)
subprocess.run([program, text], shell=False)
subprocess.run((sys.executable, "-P", "-m", "json.tool"))
url = f"http://{host}:{port}/v1"
near = "http://127.0.0.1:8377/v1"
'''Where it was read: http://example.org.'''
"""
    assert offences(harmless) == []
