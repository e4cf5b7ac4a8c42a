"""Models that are served by a cloud: the same formats at other paths, with the cloud's own proof of who asks."""
