"""Live streams: the agent, and what it keeps."""

from bocopt.file import OwnedError
from bocopt.live.agent import Agent
from bocopt.live.coupled import CoupledAgent
from bocopt.live.coupled_program import Coupled
from bocopt.live.coupled_record import CoupledDecision, CoupledOutcome
from bocopt.live.explanation import Arm, Candidate, Explanation, NoExplanationError
from bocopt.live.gpu import PlayedPanel, play_on_gpu
from bocopt.live.outcomes import SalesWarning
from bocopt.live.panel import PanelAgent
from bocopt.live.panel_answers import PanelDecisions, PanelOutcomes
from bocopt.live.ticket import Ticket
from bocopt.state import CheckpointError

__all__ = [
    "Agent",
    "Arm",
    "Candidate",
    "CheckpointError",
    "Coupled",
    "CoupledAgent",
    "CoupledDecision",
    "CoupledOutcome",
    "Explanation",
    "NoExplanationError",
    "OwnedError",
    "PanelAgent",
    "PanelDecisions",
    "PanelOutcomes",
    "PlayedPanel",
    "SalesWarning",
    "Ticket",
    "play_on_gpu",
]
