"""What the user can mend, in a module that loads nothing: `turntide --help` needs no more than this."""

from __future__ import annotations


class ConfigurationError(Exception):
    """The user asked for something that cannot run; the message says what to do. Exit code 2."""
