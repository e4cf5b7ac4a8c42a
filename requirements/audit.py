"""Says whether a vulnerability is known in anything that is pinned. `make audit` runs it among the tools.

pip-audit asks the package index, then OSV when the index left something open. Exit codes: 0 nothing is known,
1 something is, 3 not everything could be checked. An index that knows of no vulnerabilities (a mirror, say) makes
pip-audit skip all packages and end well: what was skipped is no good news here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
FILES: Final = ("tools.txt", "readers.txt", "real.txt")
"""Together they hold everything: real.txt has what run.txt and dev.txt have, in the same releases, and more."""
SERVICES: Final = ("pypi", "osv")
VULNERABLE, UNCHECKED = 1, 3


def main() -> int:
    """Audit every file for this Python and platform and say how it went; returns the exit code."""
    codes: set[int] = set()
    for name in FILES:
        known, unchecked = asked(HERE / name)
        if not known:
            print(f"{name}: NOT CHECKED, nor the rest: neither the package index nor OSV tells anything.")
            codes.add(UNCHECKED)
            break
        findings = [finding for package in known.values() for finding in package]
        print(f"{name}: {len(findings)} vulnerabilities are known in {len(known)} packages.", *findings, sep="\n  ")
        if findings:
            codes.add(VULNERABLE)
        if unchecked:
            print(f"{name}: NOT CHECKED: {', '.join(sorted(unchecked))}.")
            codes.add(UNCHECKED)
    return min(codes, default=0)


def asked(pinned: Path) -> tuple[dict[str, list[str]], set[str]]:
    """Return what is known against each package that could be checked, and the names of those that could not."""
    known: dict[str, list[str]] = {}
    names: set[str] = set()
    for service in SERVICES:
        for entry in _report(service, pinned):
            names.add(entry["name"])
            if "skip_reason" not in entry:
                known[entry["name"]] = [_finding(entry, vulnerability) for vulnerability in entry["vulns"]]
        if names and names == known.keys():
            break
    return known, names - known.keys()


def _report(service: str, pinned: Path) -> list[dict[str, Any]]:
    """Return pip-audit's entries from one service, one per package; none when the service could not be asked."""
    program = Path(sys.executable).with_name("pip-audit")
    options = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")
    command = [program, "--vulnerability-service", service, *options, "--requirement", pinned]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)["dependencies"]
    except ValueError:  # it ends in a traceback when nobody answers
        return []


def _finding(entry: dict[str, Any], vulnerability: dict[str, Any]) -> str:
    mended = ", ".join(vulnerability["fix_versions"]) or "no release yet"
    return f"{entry['name']} {entry['version']}: {vulnerability['id']}, mended in {mended}"


if __name__ == "__main__":
    sys.exit(main())
