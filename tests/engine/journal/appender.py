"""A process to be killed: commits lines to the journal it is given, and reports each on stdout once it is durable."""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

from turntide.engine.journal import Journal


async def main(path: Path) -> None:
    seen: list[int] = []
    with Journal.open(path, visitors=[lambda line: seen.append(line["s"])]) as journal:
        numbers = count(max(seen, default=-1) + 1)

        async def dialogue() -> None:
            while True:
                seq = next(numbers)
                await journal.commit(
                    {"k": "record", "u": "u", "b": "", "s": seq, "fields": {"text": "🙂" * (seq % 500)}}
                )
                os.write(1, b"%d\n" % seq)

        await asyncio.gather(*(dialogue() for _ in range(20)))


asyncio.run(main(Path(sys.argv[1])))
