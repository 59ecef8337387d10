"""States <-> one file: a schema version, a checksum, an atomic replacement, no pickle.

    magic (8 bytes) | SHA-256 of all that follows | schema version | header length | header | arrays

The header is JSON, the arrays are an npz archive. A file is written beside its target, flushed to
the disk and then renamed over it: whenever the power fails, the target is the old file or the new.
"""

import hashlib
import io
import json
import os
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"bocopt\x00\x01"
SCHEMA = 2
_PREFIX = struct.Struct("<IQ")  # schema version, header length
_DIGEST = hashlib.sha256().digest_size


class CheckpointError(ValueError):
    """A file that is not a checkpoint, is damaged, or does not belong here."""


def save(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Replace the file at once or not at all."""
    text = json.dumps(header).encode()
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    body = _PREFIX.pack(SCHEMA, len(text)) + text + archive.getvalue()
    replace(path, MAGIC + hashlib.sha256(body).digest() + body)


def replace(path: str | Path, content: bytes) -> None:
    """Write the file at once or not at all: beside its target first, flushed, then renamed."""
    path = Path(path)
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def load(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays, or a CheckpointError."""
    data = Path(path).read_bytes()
    start = len(MAGIC) + _DIGEST
    if data[: len(MAGIC)] != MAGIC:
        raise CheckpointError(f"{path} is not a bocopt checkpoint.")
    body = data[start:]
    if len(body) < _PREFIX.size or hashlib.sha256(body).digest() != data[len(MAGIC) : start]:
        raise CheckpointError(f"{path} is damaged or cut short: its checksum does not match.")
    schema, length = _PREFIX.unpack_from(body)
    if schema != SCHEMA:
        raise CheckpointError(f"{path} has schema version {schema}; this bocopt reads {SCHEMA}.")
    end = _PREFIX.size + length
    header = json.loads(body[_PREFIX.size : end])
    with np.load(io.BytesIO(body[end:]), allow_pickle=False) as archive:
        return header, {name: archive[name] for name in archive.files}


def flatten(state: Any, name: str = "state") -> dict[str, NDArray[Any]]:
    """The arrays of a nested NamedTuple, by their path.

    >>> from bocopt.core import Dims
    >>> list(flatten(Dims(1, 2, 3), "dims"))
    ['dims.0', 'dims.1', 'dims.2']
    """
    if not isinstance(state, tuple):
        return {name: np.asarray(state)}
    parts = (flatten(part, f"{name}.{i}") for i, part in enumerate(state))
    return {path: leaf for part in parts for path, leaf in part.items()}


def rebuild(template: Any, arrays: Mapping[str, NDArray[Any]], name: str = "state") -> Any:
    """The same nesting as the template, with these arrays: all of them, and no others."""
    state = _rebuilt(template, arrays, name)
    unused = {n for n in arrays if n.startswith(f"{name}.")} - flatten(state, name).keys()
    if unused:
        raise CheckpointError(f"The checkpoint has arrays that fit nowhere: {sorted(unused)}.")
    return state


def _rebuilt(template: Any, arrays: Mapping[str, NDArray[Any]], name: str) -> Any:
    if isinstance(template, tuple):
        parts = [_rebuilt(part, arrays, f"{name}.{i}") for i, part in enumerate(template)]
        return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)
    if name not in arrays:
        raise CheckpointError(f"The checkpoint has no array '{name}'.")
    return arrays[name]


#: The metadata of a dataclass field that no result depends on.
CHANGES_NO_RESULT = {"changes": "no result"}


def fingerprint(configuration: Any) -> str:
    """A digest of everything that a (nested) configuration object says, the same in every process.

    >>> from bocopt.priors import Gaussian
    >>> fingerprint(Gaussian.isotropic(2)) == fingerprint(Gaussian(mean=(0, 0), sd=(1, 1)))
    True
    """
    return hashlib.sha256(json.dumps(_described(configuration)).encode()).hexdigest()


def _described(thing: Any) -> Any:
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    if isinstance(thing, np.ndarray | np.generic):
        return [str(thing.dtype), list(np.shape(thing)), thing.tobytes().hex()]
    if isinstance(thing, tuple | list):
        return [_described(part) for part in thing]
    if isinstance(thing, partial):
        return ["partial", _described([thing.func, thing.args, thing.keywords])]
    if isinstance(thing, Path):
        return str(thing)
    if isinstance(thing, Mapping):
        return [[str(key), _described(part)] for key, part in thing.items()]
    if hasattr(thing, "__qualname__"):  # a function or a class: its code is not looked at
        return f"{thing.__module__}.{thing.__qualname__}"
    if is_dataclass(thing):
        names = [f.name for f in fields(thing) if f.metadata != CHANGES_NO_RESULT]
    elif hasattr(thing, "__dict__"):
        names = sorted(vars(thing))
    else:
        raise CheckpointError(f"A {type(thing).__name__} cannot be part of a configuration.")
    return [_described(type(thing)), [[name, _described(getattr(thing, name))] for name in names]]


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself durable, where the system lets one open a folder."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
