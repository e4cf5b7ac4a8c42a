"""How a question gets its answer: journal, queue, grant, provider, journal again; paid once, within the cap."""
