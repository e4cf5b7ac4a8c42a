"""Time the extraction of commitments over files of SQL: `python bench/commitments.py FILE…`.

A line of a file is one query; what follows a tab (a database's name in BIRD's gold files) is left out. Prints how many
of the queries parse, and the mean, median and largest time of one in milliseconds.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from turntide.datasets.tide.commitments import commitments
from turntide.datasets.tide.parsing import UnparsableSql


def measure(queries: list[str]) -> str:
    """Return one line about the extraction from `queries`."""
    times: list[float] = []
    parsed = 0
    for sql in queries:
        start = time.perf_counter()
        try:
            commitments.__wrapped__(sql)  # without what it remembers
            parsed += 1
        except UnparsableSql:
            pass
        times.append((time.perf_counter() - start) * 1000)
    mean, median = statistics.fmean(times), statistics.median(times)
    return f"{parsed}/{len(queries)} parse; {mean:.2f} ms a query (median {median:.2f}, largest {max(times):.1f})"


def main() -> None:
    for name in sys.argv[1:]:
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        queries = [line.partition("\t")[0] for line in lines if line.strip()]
        print(f"{name}: {measure(queries)}")


if __name__ == "__main__":
    main()
