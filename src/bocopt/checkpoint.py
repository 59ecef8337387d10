"""Header and arrays <-> one durable file with a schema version and a checksum.

    magic (8 bytes) | SHA-256 of all that follows | schema version | header and arrays (`state`)

A version of bocopt reads the schema that it writes and refuses others by number: what cannot be
read with certainty is not read. The number is raised with every change of what a header or a state
of ours has: a test has the digest of their names. From 1.0 on, a version that changes the schema
also reads the one before it.
"""

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bocopt import file
from bocopt.state import Arrays, CheckpointError, pack, unpack

MAGIC = b"bocopt\x00\x01"
SCHEMA = 9
_VERSION = struct.Struct("<I")
_START = len(MAGIC) + hashlib.sha256().digest_size


def save(
    path: str | Path,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    owner: file.Owner | None = None,
) -> None:
    """Replace the file at once or not at all; with an owner, nobody else may."""
    body = _VERSION.pack(SCHEMA) + pack(header, arrays)
    replace = file.replace if owner is None else owner.replace
    replace(path, MAGIC + hashlib.sha256(body).digest() + body)


def load(path: str | Path) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays, or a CheckpointError."""
    try:
        data = file.read(path)
    except file.NotAFileError as error:
        raise CheckpointError(str(error)) from error
    if data[: len(MAGIC)] != MAGIC:
        raise CheckpointError(f"{path} is not a bocopt checkpoint.")
    body = data[_START:]
    if len(body) < _VERSION.size or hashlib.sha256(body).digest() != data[len(MAGIC) : _START]:
        raise CheckpointError(f"{path} is damaged or cut short: its checksum does not match.")
    (schema,) = _VERSION.unpack_from(body)
    if schema != SCHEMA:
        raise CheckpointError(
            f"{path} has schema version {schema}; this bocopt reads version {SCHEMA}. Go on with "
            "the version of bocopt that wrote it, or begin anew and learn its outcomes again."
        )
    try:
        return unpack(body[_VERSION.size :])
    except CheckpointError as error:
        raise CheckpointError(f"{path} is not whole. {error}") from error
