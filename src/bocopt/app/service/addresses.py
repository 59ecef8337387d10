"""The service over HTTP: its addresses, and the application that answers at them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from bocopt.app.service.access import Access
from bocopt.app.service.bulk import Bulk
from bocopt.app.service.commands import RefusedError
from bocopt.app.service.guard import Guard
from bocopt.app.service.http import Api, Endpoint
from bocopt.app.service.page.pages import Pages
from bocopt.app.service.requests import on_error, on_http, on_refused


def application(front: Api, access: Access) -> Starlette:
    """Return the application, with which the engine starts and stops."""

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        """Start the engine when the server starts, and stop it when the server ends."""
        front.bell.attach()
        front.engine.start()
        yield
        await run_sync(front.engine.stop)

    pages = Pages(
        reply=front.reply,
        reader=front.page_reader or front.reader,
        templates=front.templates,
        damaged=front.damaged,
        access=access,
        patience=front.patience,
        count=front.engine.metrics.count,
        better=front.better,
        delta=front.delta,
    )
    bulk = Bulk(front.reply, front.patience, front.room)
    stream = "/v1/streams/{stream}"
    decision = f"{stream}/decisions/{{number}}"
    routes: list[tuple[str, str, Endpoint]] = [
        ("GET", "/v1/streams", front.streams),
        ("PUT", stream, front.begin),
        ("GET", stream, front.show),
        ("POST", f"{stream}/decisions", front.decide),
        ("GET", decision, front.decision),
        ("DELETE", decision, front.forget),
        ("PUT", f"{decision}/outcome", front.observe),
        ("PUT", f"{decision}/correction", front.correct),
        ("GET", f"{decision}/explanation", front.explanation),
        ("GET", f"{stream}/certificates", front.certificates),
        ("GET", f"{stream}/log", front.log),
        ("GET", f"{stream}/events", front.events),
        ("POST", "/v1/decisions", bulk.decisions),
        ("POST", "/v1/outcomes", bulk.outcomes),
        ("GET", "/v1/shadows", front.shadows),
        ("GET", "/healthz", front.healthy),
        ("GET", "/readyz", front.ready),
        ("GET", "/metrics", front.metrics),
        ("GET", "/openapi.json", front.openapi),
    ]
    seen = [
        Route(path, function, methods=[method], include_in_schema=False)
        for method, path, function in pages.routes
    ]
    app = Starlette(
        routes=[
            *(Route(path, function, methods=[method]) for method, path, function in routes),
            *seen,
        ],
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={
            RefusedError: on_refused,
            HTTPException: on_http,
            Exception: on_error,
        },
        lifespan=life,
    )
    app.router.redirect_slashes = False  # a redirection would quote the host that a client claims
    return app
