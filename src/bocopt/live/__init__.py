"""Live streams: the agent, and what it keeps."""

from bocopt.live.agent import Agent, Ticket

__all__ = ["Agent", "Ticket"]
