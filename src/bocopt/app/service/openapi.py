"""The OpenAPI document of the service: what each address takes and returns, with examples."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

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


class Operation(NamedTuple):
    """One method of one path."""

    method: str
    path: str
    summary: str
    good: Mapping[int, Any]  # an example of an answer, by status
    bad: tuple[int, ...] = ()  # statuses of refusals, beside that without a token
    body: Any = None  # an example of it
    schema: str = ""  # of the body, one of `SCHEMAS`
    parameters: tuple[Mapping[str, Any], ...] = (_STREAM,)
    media: str = "application/json"  # of an answer 200
    open: bool = False  # needs no token

    def described(self) -> dict[str, Any]:
        """Return it as OpenAPI has it."""
        refused = self.bad if self.open else (401, *self.bad)
        examples = {**self.good, **dict.fromkeys(refused, _ERROR)}
        found: dict[str, Any] = {
            "summary": self.summary,
            "parameters": list(self.parameters),
            "responses": {
                str(status): {
                    "description": _WORDS[status],
                    "content": {self._media(status): {"example": example}},
                }
                for status, example in sorted(examples.items())
            },
        }
        if self.body is not None:
            shape = (
                {"schema": {"$ref": f"#/components/schemas/{self.schema}"}} if self.schema else {}
            )
            told = {"application/json": {"example": self.body, **shape}}
            found["requestBody"] = {"content": told}
        if self.open:
            found["security"] = []
        return found

    def _media(self, status: int) -> str:
        return self.media if status == 200 else "application/json"


_PART = {"$ref": "#/components/schemas/Seen"}
_END = {"type": "number"}
_XI = {
    "oneOf": [
        {"type": "array", "items": _PART},
        {"type": "object", "additionalProperties": _PART},
    ],
    "description": "In order, or by name where the outcomes of the stream have names.",
}
_ITEM = {"stream": {"type": "string"}, "decision": {"type": "integer"}, "xi": _XI}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of these, and nothing else."""
    closed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **closed}


SCHEMAS: Mapping[str, Any] = {
    "Seen": {
        "description": "What was seen of one number: it, bounds of it, or null for nothing.",
        "oneOf": [
            {"type": "number"},
            {
                "type": "object",
                "properties": {"at_least": _END, "at_most": _END},
                "minProperties": 1,
                "additionalProperties": False,
            },
            {"type": "null"},
        ],
    },
    "Outcome": _object({"xi": _XI}),
    "Outcomes": _object({"outcomes": {"type": "array", "items": _object(_ITEM)}}),
}
_WRITES = (400, 404, 408, 413, 422, 503, 504, 507)
_BULK = (400, 408, 413, 422)
_ONE = "/v1/streams/{stream}"
_DECISION = f"{_ONE}/decisions/{{number}}"
_OF = (_STREAM, _NUMBER)
_SUMMARY = {"id": "shop", "case": "shop", "decisions": 1, "outcomes": 0, "taught": 0}
_BETTER = {
    "stream": "shop",
    "shadow": "average",
    "log_e": 14.2,
    "compared_stages": 300,
    "worse_lately": None,
}

OPERATIONS = (
    Operation("get", "/v1/streams", "All streams.", {200: {"streams": ["shop"]}}, parameters=()),
    Operation(
        "put",
        _ONE,
        "Begin a stream like one that the configuration file declares.",
        {200: _SUMMARY, 201: _SUMMARY},
        (*_WRITES, 409),
        {"case": "shop", "seed": 0},
    ),
    Operation("get", _ONE, "A stream in a few numbers.", {200: _SUMMARY}, (404, 503)),
    Operation(
        "post",
        f"{_ONE}/decisions",
        "Decide under a context.",
        {200: _TICKET, 201: _TICKET},
        (*_WRITES, 409),
        {"x": [0.3]},
        parameters=(_STREAM, _KEY),
    ),
    Operation(
        "get",
        _DECISION,
        "All events of a decision.",
        {200: {"events": [{"seq": 0, "kind": "decision", "decision": 0}]}},
        (404, 503),
        parameters=_OF,
    ),
    Operation(
        "delete",
        _DECISION,
        "Give up waiting for its outcome.",
        {200: {"id": 0, "forgotten": True}},
        (404, 409, 503, 507),
        parameters=_OF,
    ),
    Operation(
        "put",
        f"{_DECISION}/outcome",
        "Learn the outcome of a decision.",
        {200: {"id": 0, "learned": True}, 201: _OUTCOME},
        (*_WRITES, 409),
        {"xi": [1.1, {"at_least": 0.9}]},
        "Outcome",
        _OF,
    ),
    Operation(
        "put",
        f"{_DECISION}/correction",
        "Replace an outcome that was wrong: what was learned since is learned again.",
        {200: {"id": 0, "learned": True}, 201: {**_OUTCOME, "corrected": True}},
        (*_WRITES, 409),
        {"xi": [1.1, 0.9]},
        "Outcome",
        _OF,
    ),
    Operation(
        "get",
        f"{_DECISION}/explanation",
        "Why this z: it, its neighbours and others under the same scenarios.",
        {200: {"id": 0, "scenarios": 400, "candidates": [{"what": "taken"}]}},
        (404, 409, 503),
        parameters=_OF,
    ),
    Operation(
        "get",
        f"{_ONE}/certificates",
        "What is guaranteed so far.",
        {
            200: {
                "certificates": [{"name": "headline", "words": "With 95% ..."}],
                "together": "Of the certificates, ..., all together with 90%.",
            }
        },
        (404, 503),
    ),
    Operation(
        "get",
        f"{_ONE}/log",
        "Events after one.",
        {200: {"events": [], "next": -1}},
        (404, 422, 503),
        parameters=(_STREAM, _AFTER, _LIMIT),
    ),
    Operation(
        "get",
        f"{_ONE}/events",
        "Events as they are logged, by server-sent events with Last-Event-ID.",
        {200: "id: 0 ..."},
        (400, 404, 422, 503),
        parameters=(_STREAM, _AFTER, _LAST),
        media="text/event-stream",
    ),
    Operation(
        "post",
        "/v1/decisions",
        "Decide up to 10000 times, for any streams: each item is done or refused by itself.",
        {200: {"answers": [{"status": 201, "answer": _TICKET}, {"status": 422, **_ERROR}]}},
        _BULK,
        {"decisions": [{"stream": "shop", "key": "shop-2026-09-10", "x": [0.3]}]},
        parameters=(),
    ),
    Operation(
        "post",
        "/v1/outcomes",
        "Learn up to 10000 outcomes, of any streams: each item is done or refused by itself.",
        {200: {"answers": [{"status": 201, "answer": _OUTCOME}, {"status": 409, **_ERROR}]}},
        _BULK,
        {"outcomes": [{"stream": "shop", "decision": 0, "xi": [1.1, {"at_least": 0.9}]}]},
        "Outcomes",
        parameters=(),
    ),
    Operation(
        "get",
        "/v1/shadows",
        "Shadows that are better on average so far, judged over all streams.",
        {200: {"level": 0.05, "compared": 7, "better": [_BETTER]}},
        (503,),
        parameters=(),
    ),
    Operation(
        "get", "/healthz", "Whether it lives.", {200: {"status": "alive"}}, parameters=(), open=True
    ),
    Operation(
        "get",
        "/readyz",
        "Whether it decides.",
        {200: {"status": "ready"}},
        (503,),
        parameters=(),
        open=True,
    ),
    Operation(
        "get",
        "/metrics",
        "For Prometheus.",
        {200: "bocopt_queue 0"},
        parameters=(),
        media="text/plain",
    ),
    Operation("get", "/openapi.json", "This document.", {200: {"openapi": "3.1.0"}}, parameters=()),
)


@cache
def document() -> dict[str, Any]:
    """The whole of it."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = operation.described()
    return {
        "openapi": "3.1.0",
        "info": {"title": "bocopt", "version": "1", "description": "Decide now, observe later."},
        "security": [{"bearer": []}, {}],  # without a token, this machine alone is answered
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": SCHEMAS,
        },
        "paths": paths,
    }
