"""`make chaos`: whole sweeps that are killed, starved, locked out and lied to, and what must hold all the same."""
