"""A provider as a value: its formats, where it is, and what the environment says of the account there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from .base import Account, ConfigurationError, Secret, WireFormat
from .batches.base import BatchFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A host that can be named in `provider/model`: what an entry point in `turntide.adapters` loads to.

    Key, base URL and the number of calls at once come from the first of the named environment variables that is set. A
    free provider may do without a key. `wire` is the format it is spoken to in, unless the option `api` names another
    of its `formats`. `batches` are the batch APIs that it has.
    """

    name: str
    wire: WireFormat
    formats: Mapping[str, WireFormat] = field(default_factory=dict[str, WireFormat])
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    url_variables: tuple[str, ...] = ()
    in_flight_variables: tuple[str, ...] = ()
    free: bool = False
    batches: tuple[BatchFormat, ...] = ()

    def speaking(self, api: str) -> Provider:
        """Return this provider spoken to in the format `api`, or raise ConfigurationError that lists what there is."""
        if api not in self.formats:
            known = ", ".join(sorted(self.formats)) or "only its usual one"
            raise ConfigurationError(f"{self.name} does not speak the format {api!r}; it speaks {known}.")
        return replace(self, wire=self.formats[api])

    def account(self, environ: Mapping[str, str]) -> Account:
        """Return the account that `environ` describes, or raise ConfigurationError that names the variable."""
        url = first_set(environ, self.url_variables) or self.base_url
        if not _is_url(url):
            raise ConfigurationError(
                f"{self.name}: the base URL must begin with http:// or https:// and name a host, and its port be one. "
                f"Set {' or '.join(self.url_variables)}."
            )
        key = first_set(environ, self.key_variables)
        if self.key_variables and not key and not self.free:
            raise ConfigurationError(f"{self.name}: no key. Set {' or '.join(self.key_variables)} in the environment.")
        return Account(
            provider=self.name, base_url=url.rstrip("/"), key=self.secret(key), in_flight=self._in_flight(environ)
        )

    def secret(self, key: str) -> Secret:
        """Return the key as a Secret, or raise ConfigurationError when no header can carry it."""
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(
                f"{self.name}: the key in {' or '.join(self.key_variables)} holds characters that no header can carry."
            )
        return Secret(key)

    def _in_flight(self, environ: Mapping[str, str]) -> int | None:
        told = first_set(environ, self.in_flight_variables)
        if told and not (told.isdecimal() and int(told) > 0):
            raise ConfigurationError(
                f"{self.name}: {' or '.join(self.in_flight_variables)} is a number of calls from 1, not {told!r}."
            )
        return int(told) if told else None


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # a port beyond 65535, brackets around what is no address
        return False


def first_set(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Return the first of the variables that is set, or "", without the white space that pasting leaves."""
    return next((value for name in names if (value := environ.get(name, "").strip())), "")
