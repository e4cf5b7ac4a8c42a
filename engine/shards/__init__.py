"""One plan cut into shards: each a run of its own, all under the same limits and the same cap, held in Redis."""
