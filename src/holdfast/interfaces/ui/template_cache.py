"""Compiled templates, kept beside the templates as Python keeps compiled modules.

To compile all templates takes a second of processor time, to read them compiled a twentieth of it.
Where the folder of the package cannot be written, each process compiles what it needs.
"""

from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress
from hashlib import blake2b
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

_DIGEST_BYTES = 16


class TemplateCache(BytecodeCache):
    """Reads and writes compiled templates. One that was compiled from another text, with other
    `options`, or by another version of Python or Jinja counts as missing."""

    def __init__(self, options: str) -> None:
        self._compiler = f"{MAGIC_NUMBER.hex()} {jinja2.__version__} {options}\n"

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file of a compiled template."""
        return cache_from_source(filename or name)

    def get_source_checksum(self, source: str) -> str:
        """The digest of all that the compiled template depends on."""
        told = (self._compiler + source).encode()
        return blake2b(told, digest_size=_DIGEST_BYTES).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template, if there is one."""
        with suppress(OSError, EOFError, ValueError, TypeError):
            kept = Path(bucket.key).read_bytes()
            if kept[:_DIGEST_BYTES].hex() == bucket.checksum:
                bucket.code = marshal.loads(kept[_DIGEST_BYTES:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template, unless Python is told to keep none."""
        if sys.dont_write_bytecode or bucket.code is None:
            return
        path = Path(bucket.key)
        # Another process may read it, or write the same.
        written = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            written.write_bytes(bytes.fromhex(bucket.checksum) + marshal.dumps(bucket.code))
            written.replace(path)
