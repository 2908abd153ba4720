"""A session as a page in the browser of this machine. In: a ``Desk``. Out: a server on 127.0.0.1 until it quits.

    GET  /               the page: only the module and its style
    GET  /workbench.js   the module, which notebooks show too
    POST /ask            a request of the screen, answered by ``Desk.ask``
    GET  /events         messages: another state, progress of long work
    GET  /files/KIND     the model, the script, the session, the picture, the report

Requests without the token of the address are refused. A page of another origin could send requests, but not read
answers; it is also refused, by ``Origin``, and a foreign name that was bound to this address by ``Host``.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from types import FrameType
from typing import Any
from urllib.parse import quote

from treewright.exceptions import MissingLibraryError, ParameterError, TreewrightError
from treewright.show.page.render import digest_of
from treewright.workbench.screen import Desk
from treewright.workbench.widget import module_text, page_text

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
MOST_BYTES = 1_000_000  # of a request
BEAT = 10.0  # seconds after which a silent stream sends a sign of life
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Server:
    """The server of a desk; port 0 takes a free one, a port that is taken is a ParameterError."""

    def __init__(self, desk: Desk, port: int = 0) -> None:
        check_libraries()
        import uvicorn

        self.desk = desk
        self.token = secrets.token_urlsafe(24)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise ParameterError(
                f"port {port} cannot be used ({error}): give another one, or 0 for a free one"
            ) from None
        self._socket.listen()  # requests before the server runs wait, and are not refused
        self.port = int(self._socket.getsockname()[1])
        config = uvicorn.Config(
            _app(self), log_level="critical", access_log=False, timeout_graceful_shutdown=1, lifespan="off", ws="none"
        )  # fmt: skip
        self._server = uvicorn.Server(config)

        self._server.handle_exit = self._interrupted  # type: ignore[method-assign]

    def _interrupted(self, sig: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C: ``quit``, then the handler of the server."""
        self.quit()
        type(self._server).handle_exit(self._server, sig, frame)

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def serve(self, *, browser: bool) -> None:
        """Print the address, open it if asked for, and serve until ``quit``, or Ctrl-C."""
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            raise ParameterError("a notebook cannot serve this page, as it is a server itself: use session.widget()")
        # Ctrl-C is one of two ways to end it: everything is saved, and there is no traceback.
        with suppress(KeyboardInterrupt):
            print(f"the workbench is at {self.address}", flush=True)  # noqa: T201 - the address is what is asked for
            if browser:
                webbrowser.open(self.address)
            self._server.run(sockets=[self._socket])
        self.desk.settle()

    def quit(self) -> None:
        """Tell the screens, and stop."""
        self.desk.stop()
        self.desk.tell(self.desk.bye())
        self._server.should_exit = True


def check_libraries() -> None:
    """Raise MissingLibraryError if starlette or uvicorn is not installed."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingLibraryError(
            "the workbench needs starlette and uvicorn: pip install 'treewright[workbench]'", name=error.name
        ) from None


def _app(server: Server) -> Any:
    """The routes."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    desk = server.desk

    def refused(request: Request, *, needs_token: bool = True) -> Response | None:
        """The refusal of a request; None if it is allowed."""
        if request.method == "HEAD":
            return Response(None, 405, HEADERS)  # of a stream it would never end, of a report it would be a look
        places = {f"{name}:{server.port}" for name in NAMES}
        if request.headers.get("host", "") not in places:
            return Response("This address is not served.", 421, HEADERS)
        origin = request.headers.get("origin")
        if origin is not None and origin not in {f"http://{place}" for place in places}:
            return Response("Requests from another origin are refused.", 403, HEADERS)
        given = request.headers.get("x-treewright-token") or request.query_params.get("token") or ""
        if needs_token and not secrets.compare_digest(given.encode(), server.token.encode()):
            return Response("The token is wrong: open the address that the command printed.", 403, HEADERS)
        return None

    async def page(request: Request) -> Response:
        wrong = refused(request)
        if wrong is not None:
            return wrong
        text, starter = page_text(desk.title)
        policy = (
            f"default-src 'none'; script-src 'self' '{digest_of(starter)}'; style-src 'unsafe-inline'; "
            "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return Response(text, 200, {**HEADERS, "Content-Security-Policy": policy}, "text/html")

    async def module(request: Request) -> Response:
        return refused(request, needs_token=False) or Response(module_text(), 200, HEADERS, "text/javascript")

    async def ask(request: Request) -> Response:
        wrong = refused(request)
        if wrong is not None:
            return wrong
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"error": "a request must be JSON"}, 415, HEADERS)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return JSONResponse({"error": "the request is too large"}, 413, HEADERS)
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the request is not JSON"}, 400, HEADERS)
        if isinstance(asked, dict) and asked.get("ask") == "quit":
            asyncio.get_running_loop().call_later(0.1, server.quit)
            return JSONResponse({}, headers=HEADERS)
        if isinstance(asked, dict) and asked.get("ask") == "stop":  # at once, however many requests wait for a thread
            return JSONResponse(desk.ask(asked), headers=HEADERS)
        answer = await run_in_threadpool(desk.ask, asked)
        return Response(json.dumps(answer, allow_nan=False), 200, HEADERS, "application/json")

    async def events(request: Request) -> Response:
        return refused(request) or StreamingResponse(_stream(desk), 200, HEADERS, "text/event-stream")

    async def files(request: Request) -> Response:
        wrong = refused(request)
        if wrong is not None:
            return wrong
        kind = request.path_params["kind"]
        try:
            name, body, media = await run_in_threadpool(desk.export, kind)
        except TreewrightError as error:
            return Response(str(error), 400, HEADERS, "text/plain")
        shown = "inline" if kind == "report" else "attachment"
        headers = {**HEADERS, "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(name)}"}
        return Response(body, 200, headers, media)

    routes: list[tuple[str, Callable[..., Any], str]] = [
        ("/", page, "GET"), ("/workbench.js", module, "GET"), ("/ask", ask, "POST"), ("/events", events, "GET"),
        ("/files/{kind}", files, "GET"),
    ]  # fmt: skip
    return Starlette(routes=[Route(path, answer, methods=[method]) for path, answer, method in routes])


async def _stream(desk: Desk) -> AsyncIterator[str]:
    """The messages to one screen, as server-sent events."""
    loop, waiting = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()
    forget = desk.listen(lambda message: _pass(loop, waiting, message))
    try:
        yield "retry: 1000\n\n"
        while True:
            try:
                message = await asyncio.wait_for(waiting.get(), BEAT)
            except TimeoutError:
                yield ": here\n\n"
                continue
            yield f"data: {json.dumps(message)}\n\n"
            if message.get("bye"):
                return
    finally:
        forget()


def _pass(loop: asyncio.AbstractEventLoop, waiting: asyncio.Queue[dict[str, Any]], message: dict[str, Any]) -> None:
    """Pass a message from the working thread to the loop of the server."""
    loop.call_soon_threadsafe(waiting.put_nowait, message)
