"""Connections on which a request is told promptly, or not at all."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class _Prompt(H11Protocol):
    """Hangs up on who takes too long to send the headers of a request.

    Between two requests uvicorn's own limit holds, up to the first byte of the second one.
    """

    patience: float
    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self.conn.their_state is not h11.IDLE:  # they are here
            self._wait_no_more()
        elif self._end is None:
            self._end = self.loop.call_later(self.patience, self.transport.close)

    def _wait_no_more(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None


def prompt(patience: float) -> type[H11Protocol]:
    """For a server that waits so many seconds."""
    return type("Prompt", (_Prompt,), {"patience": patience})
