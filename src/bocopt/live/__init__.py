"""Live streams: the agent, and what it keeps."""

from bocopt.file import OwnedError
from bocopt.live.agent import Agent, Ticket
from bocopt.state import CheckpointError

__all__ = ["Agent", "CheckpointError", "OwnedError", "Ticket"]
