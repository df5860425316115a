"""The deployment key: from a file or from PARTYWALL_KEY, never from the command line, where others can read it."""

from __future__ import annotations

import os
from pathlib import Path

from partywall.canaries import UsageError

VARIABLE = "PARTYWALL_KEY"
SHORTEST = 32


def read_key(key_file: Path | None, required: bool = True) -> bytes:
    """The key: the file's content without its last line end, else the variable's.

    Raises UsageError where neither is given though `required`, where the file cannot be read, and where the key is
    shorter than 32 bytes. Empty where nothing is given and nothing required.
    """
    if key_file is not None:
        try:
            key = key_file.read_bytes().rstrip(b"\r\n")
        except OSError as error:
            raise UsageError(f"cannot read key file {str(key_file)!r}: {error.strerror}") from error
        source = f"key file {str(key_file)!r}"
    else:
        key, source = os.fsencode(os.environ.get(VARIABLE, "")), VARIABLE
    if not key and key_file is None:
        if required:
            raise UsageError(f"no key: set {VARIABLE} or give --key-file, at least {SHORTEST} bytes")
        return b""
    if len(key) < SHORTEST:
        raise UsageError(f"{source} holds {len(key)} bytes; expected at least {SHORTEST}")
    return key
