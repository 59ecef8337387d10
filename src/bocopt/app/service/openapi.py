"""The OpenAPI document of the service: what each address takes and returns, with examples."""

from collections.abc import Mapping
from functools import cache
from typing import Any

_TICKET = {
    "id": 0,
    "z": {"z0": 3.0, "z1": 2.0},
    "status": "OPTIMAL",
    "message": "z is optimal",
    "gap": 0.0,
    "at": 1789000000.0,
}
_OUTCOME = {"id": 0, "learned": True, "reward": 54.0, "feasible": True, "hindsight": 60.0}
_ERROR = {"error": "The 'x' parameter of decisions must be finite. Got nan at [0] instead."}
_WORDS = {
    200: "It is so already, or here it is.",
    201: "Done, and on the disk.",
    400: "The request cannot be read.",
    401: "The token is missing or wrong.",
    404: "There is no such stream or decision.",
    408: "The body came too slowly.",
    409: "It contradicts what is known.",
    413: "The body is too large.",
    422: "What it says does not fit.",
    503: "Busy, starting, stopping, or without its store: try again.",
    504: "It took too long: ask again with the same key.",
    507: "The disk is full; nothing was changed.",
}
_STREAM = {"name": "stream", "in": "path", "required": True, "schema": {"type": "string"}}
_NUMBER = {"name": "number", "in": "path", "required": True, "schema": {"type": "integer"}}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "maxLength": 200},
    "description": "The same key and body again give the same decision.",
}


def _optional(name: str, where: str, description: str) -> dict[str, Any]:
    schema = {"type": "integer"}
    return {"name": name, "in": where, "schema": schema, "description": description}


_AFTER = _optional("after", "query", "The last event that is known; -1: none.")
_LIMIT = _optional("limit", "query", "How many events at the most, up to 10000.")
_LAST = _optional("Last-Event-ID", "header", "The last event that is known.")


def _operation(
    summary: str,
    good: Mapping[int, Any],
    bad: tuple[int, ...] = (),
    *,
    body: Any = None,
    parameters: tuple[Mapping[str, Any], ...] = (_STREAM,),
    media: str = "application/json",
) -> dict[str, Any]:
    examples = {**good, **dict.fromkeys((401, *bad), _ERROR)}
    found: dict[str, Any] = {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {
            str(status): {
                "description": _WORDS[status],
                "content": {media if status == 200 else "application/json": {"example": example}},
            }
            for status, example in sorted(examples.items())
        },
    }
    if body is not None:
        found["requestBody"] = {"content": {"application/json": {"example": body}}}
    return found


def _watched() -> dict[str, Any]:
    """Return the paths for monitoring; /healthz and /readyz need no token."""
    alive = _operation("Whether it lives.", {200: {"status": "alive"}}, parameters=())
    ready = _operation("Whether it decides.", {200: {"status": "ready"}}, (503,), parameters=())
    for free in (alive, ready):
        free["security"] = []
        del free["responses"]["401"]
    counts = {200: "bocopt_queue 0"}
    metrics = _operation("For Prometheus.", counts, parameters=(), media="text/plain")
    this = _operation("This document.", {200: {"openapi": "3.1.0"}}, parameters=())
    better = {"stream": "shop", "shadow": "average", "log_e": 14.2, "compared_stages": 300}
    shadows = _operation(
        "Shadows that are better on average so far, judged over all streams.",
        {200: {"level": 0.05, "compared": 7, "better": [{**better, "worse_lately": None}]}},
        (503,),
        parameters=(),
    )
    found = {
        "/v1/shadows": shadows,
        "/healthz": alive,
        "/readyz": ready,
        "/metrics": metrics,
        "/openapi.json": this,
    }
    return {path: {"get": operation} for path, operation in found.items()}


@cache
def document() -> dict[str, Any]:
    """The whole of it."""
    writes = (400, 404, 408, 413, 422, 503, 504, 507)
    stream, of = "/v1/streams/{stream}", (_STREAM, _NUMBER)
    decision = f"{stream}/decisions/{{number}}"
    summary = {"id": "shop", "case": "shop", "decisions": 1, "outcomes": 0, "taught": 0}
    return {
        "openapi": "3.1.0",
        "info": {"title": "bocopt", "version": "1", "description": "Decide now, observe later."},
        "security": [{"bearer": []}, {}],  # without a token, this machine alone is answered
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
        "paths": {
            "/v1/streams": {
                "get": _operation("All streams.", {200: {"streams": ["shop"]}}, parameters=())
            },
            stream: {
                "put": _operation(
                    "Begin a stream like one that the configuration file declares.",
                    {200: summary, 201: summary},
                    (*writes, 409),
                    body={"case": "shop", "seed": 0},
                ),
                "get": _operation("A stream in a few numbers.", {200: summary}, (404, 503)),
            },
            f"{stream}/decisions": {
                "post": _operation(
                    "Decide under a context.",
                    {200: _TICKET, 201: _TICKET},
                    (*writes, 409),
                    body={"x": [0.3]},
                    parameters=(_STREAM, _KEY),
                )
            },
            decision: {
                "get": _operation(
                    "All events of a decision.",
                    {200: {"events": [{"seq": 0, "kind": "decision", "decision": 0}]}},
                    (404, 503),
                    parameters=of,
                ),
                "delete": _operation(
                    "Give up waiting for its outcome.",
                    {200: {"id": 0, "forgotten": True}},
                    (404, 409, 503, 507),
                    parameters=of,
                ),
            },
            f"{decision}/outcome": {
                "put": _operation(
                    "Learn the outcome of a decision.",
                    {200: {"id": 0, "learned": True}, 201: _OUTCOME},
                    (*writes, 409),
                    body={"xi": [1.1, 0.9]},
                    parameters=of,
                )
            },
            f"{decision}/explanation": {
                "get": _operation(
                    "Why this z: it, its neighbours and others under the same scenarios.",
                    {200: {"id": 0, "scenarios": 400, "candidates": [{"what": "taken"}]}},
                    (404, 409, 503),
                    parameters=of,
                )
            },
            f"{stream}/certificates": {
                "get": _operation(
                    "What is guaranteed so far.",
                    {
                        200: {
                            "certificates": [{"name": "headline", "words": "With 95% ..."}],
                            "together": "Of the certificates, ..., all together with 90%.",
                        }
                    },
                    (404, 503),
                )
            },
            f"{stream}/log": {
                "get": _operation(
                    "Events after one.",
                    {200: {"events": [], "next": -1}},
                    (404, 422, 503),
                    parameters=(_STREAM, _AFTER, _LIMIT),
                )
            },
            f"{stream}/events": {
                "get": _operation(
                    "Events as they are logged, by server-sent events with Last-Event-ID.",
                    {200: "id: 0 ..."},
                    (400, 404, 422, 503),
                    parameters=(_STREAM, _AFTER, _LAST),
                    media="text/event-stream",
                )
            },
            **_watched(),
        },
    }
