"""Finished blocks of tasks, on disk."""

from pathlib import Path
from typing import NamedTuple

from bocopt import checkpoint
from bocopt.state import CheckpointError
from bocopt_studies.work.task import Record


class StoredBlock(NamedTuple):
    """Some trials' record, and how long it took."""

    record: Record
    seconds: float


class BlockStore:
    """A folder of finished blocks, each in a file that is whole or absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, digest: str) -> StoredBlock | None:
        """The block, or None where it is missing or damaged and must be computed."""
        try:
            header, arrays = checkpoint.load(self._path(digest))
        except (FileNotFoundError, CheckpointError):
            return None
        return StoredBlock(arrays, header["seconds"]) if header.get("digest") == digest else None

    def save(self, digest: str, block: StoredBlock) -> None:
        """Write a block to its file, which is named by the digest."""
        header = {"digest": digest, "seconds": block.seconds}
        checkpoint.save(self._path(digest), header, block.record)

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest[:32]}.block"
