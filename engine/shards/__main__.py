"""`python -m turntide.engine.shards`: the process of one shard."""

import sys

from .processes import child

if __name__ == "__main__":
    sys.exit(child())
