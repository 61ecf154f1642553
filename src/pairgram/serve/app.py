"""The HTTP interface."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.types import ASGIApp

from pairgram import __version__
from pairgram.errors import InputError, PairgramError, UnknownNodeError
from pairgram.serve import schemas
from pairgram.serve.batching import Batcher, BusyError
from pairgram.serve.guard import Guard, one_line
from pairgram.serve.limits import MOST_FOUND, MOST_ID, Limits
from pairgram.serve.memory import resident_bytes
from pairgram.serve.metrics import Metrics
from pairgram.serve.served import Holder, Item, Question, answer

logger = logging.getLogger(__name__)

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
PAGE = {
    "serve": ("index.html", "page.css", "theme.js", "elements.js", "server.js", "decisions.js",
              "search.js", "pane.js", "page.js"),
    "map": ("cells.js", "plane.js", "view.js"),
}  # fmt: skip
HOME = {name: package for package, names in PAGE.items() for name in names}
WATCH_SECONDS = 2.0
REFUSED: dict[int | str, dict[str, Any]] = {
    code: {"model": schemas.ErrorAnswer, "description": about}
    for code, about in (
        (400, "not JSON"), (401, "wrong token"), (403, "not allowed"), (404, "unknown"),
        (405, "other method"), (408, "too slow"), (409, "cannot be done now"), (413, "too large"),
        (421, "other host"), (422, "cannot be used"), (429, "too many requests"), (503, "busy"),
    )
}  # fmt: skip


class Server:
    """One model behind HTTP.

    Parameters
    ----------
    holder
        The model, and how to load it again.
    limits
        Sizes, rates and times.
    token
        Needed for what writes; None refuses that altogether.
    private
        Whether other machines can reach us: then everything needs the token.
    """

    def __init__(
        self,
        holder: Holder,
        limits: Limits | None = None,
        token: str | None = None,
        private: bool = False,
    ) -> None:
        self.holder, self.limits, self.token = holder, limits or Limits(), token
        self.metrics = Metrics()
        self.batcher: Batcher[Item, Any]
        api = FastAPI(
            title="pairgram", version=__version__, lifespan=self._lifespan,
            docs_url=None, redoc_url=None, responses=REFUSED,
        )  # fmt: skip
        _answer_errors(api)
        self._add_routes(api)
        self.app: ASGIApp = Guard(api, self.limits, self.metrics, token, private)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        self.batcher = Batcher(self._work, waiting=self.limits.waiting)
        work = asyncio.create_task(self.batcher.run())
        watch = asyncio.create_task(self._watch())
        with contextlib.suppress(RuntimeError, ValueError, NotImplementedError):
            # Not every system and thread has signals.
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._on_hangup)
        try:
            yield
        finally:
            watch.cancel()
            self.batcher.close()
            await work
            self.holder.close()

    def _work(self, question: Question, items: Sequence[Item]) -> list[Any]:
        if question.about != "refresh":
            self.metrics.batch(len(items))
        return answer(question, items)

    async def _watch(self) -> None:
        """Look after the model now and then."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            # In calls of their own: what this one held would live until the next look.
            await self._refresh()
            await asyncio.to_thread(self.holder.tidy)

    async def _refresh(self) -> None:
        """Take up what other processes add to the folder, between two batches."""
        served = self.holder.current
        try:
            await self.batcher.ask(Question(served, "refresh"), ("", 0))
        except PairgramError as error:
            logger.error("%s", error)
        if served.model.fingerprint_ != served.fingerprint:
            await self._reload_or_log()  # another fit, not only other nodes

    def _on_hangup(self) -> None:
        self._reloading = asyncio.create_task(self._reload_or_log())

    async def _reload_or_log(self) -> None:
        try:
            await asyncio.to_thread(self.holder.reload)
        except PairgramError as error:
            logger.error("the model loaded before is still served: %s", error)

    def _add_routes(self, api: FastAPI) -> None:
        routes: Sequence[tuple[str, str, Callable[..., Any], Any]] = (
            ("POST", "/suggest", self.suggest, schemas.SuggestAnswer),
            ("POST", "/explain", self.explain, schemas.ExplainAnswer),
            ("POST", "/add", self.add, schemas.AddAnswer),
            ("POST", "/embed", self.embed, schemas.EmbedAnswer),
            ("POST", "/score", self.score, schemas.ScoreAnswer),
            ("GET", "/nodes", self.search, schemas.NodesAnswer),
            ("GET", "/nodes/{node:path}", self.node, schemas.NodeAnswer),
            ("GET", "/map", self.map, schemas.MapAnswer),
            ("GET", "/map/nodes", self.map_nodes, schemas.NodesAnswer),
            ("POST", "/reload", self.reload, schemas.ReloadAnswer),
            ("GET", "/model", self.model, schemas.ModelAnswer),
            ("GET", "/health", self.health, schemas.HealthAnswer),
        )
        for method, path, call, model in routes:
            api.add_api_route(path, call, methods=[method], response_model=model)
        plain: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}
        points: dict[int | str, dict[str, Any]] = {
            200: {"content": {"application/octet-stream": {}}}
        }
        api.add_api_route(
            "/metrics", self.show_metrics, response_class=PlainTextResponse, responses=plain
        )
        api.add_api_route("/map/points", self.points, response_class=Response, responses=points)
        api.add_api_route("/", self.index, include_in_schema=False)
        api.add_api_route("/page/{name}", self.asset, include_in_schema=False)

    async def _ask(self, question: Question, items: Sequence[Item]) -> list[Any]:
        waits: list[Awaitable[Any]] = [self.batcher.ask(question, item) for item in items]
        try:
            async with asyncio.timeout(self.limits.seconds):
                return list(await asyncio.gather(*waits))
        except TimeoutError:
            raise HTTPException(503, "The model is too busy to answer in time.") from None

    async def suggest(self, asked: schemas.SuggestRequest) -> dict[str, Any]:
        """Likely new links of a new text, or of a known node."""
        served = self.holder.current
        question = Question(
            served,
            asked.about,
            asked.rule,
            asked.direction,
            _tuple(asked.prefix),
            _tuple(asked.label),
        )
        (found,) = await self._ask(question, [(asked.said, asked.k)])
        return {
            "suggestions": [
                {
                    **served.node(one.node),
                    "score": one.score,
                    "why": one.why,
                    "probability": one.probability,
                    "relation": one.relation,
                }
                for one in found
                if served.model.has(one.node)
            ],
            "words": served.words(asked.text or ""),
            "match": served.is_match(asked.about, asked.said, asked.rule, found),
            "generation": served.generation,
        }

    async def explain(self, asked: schemas.ExplainRequest) -> dict[str, Any]:
        """What carried the score of a suggestion: words, and neighbours near the query."""
        question = Question(self.holder.current, f"explain {asked.about}", asked.rule)
        (found,) = await self._ask(question, [(asked.said, asked.target)])
        said = asdict(found)
        del said["target"]
        return said

    def add(self, asked: schemas.AddRequest) -> dict[str, Any]:
        """Add nodes by their texts, all of them or none; needs the token."""
        texts = {one.id: one.text for one in asked.nodes}
        if len(texts) < len(asked.nodes):
            raise HTTPException(422, "nodes: an id comes twice.")
        added, size = self.holder.add(texts)
        return {"added": added, "nodes": size}

    async def embed(self, asked: schemas.EmbedRequest) -> dict[str, Any]:
        """Vectors of texts, known or new."""
        served = self.holder.current
        if not served.reads_text:
            raise HTTPException(422, f"{served.model.method} learns from structure alone.")
        found = await self._ask(Question(served, "embed"), [(text, 0) for text in asked.texts])
        return {"vectors": [row.tolist() for row in found], "generation": served.generation}

    def score(self, asked: schemas.ScoreRequest) -> dict[str, Any]:
        """Scores of links between known nodes."""
        served = self.holder.current
        scores = served.model.score(asked.pairs, asked.rule)
        rule = served.model.rule_ if asked.rule is None else asked.rule
        return {"scores": scores.tolist(), "rule": rule, "generation": served.generation}

    def search(
        self,
        query: Annotated[str, Query(max_length=MOST_ID)],
        limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 20,
    ) -> dict[str, Any]:
        """Known nodes whose id or text has all the words of the query."""
        served = self.holder.current
        return {"nodes": [served.node(name) for name in served.find(query, limit)]}

    def node(self, node: Annotated[str, Path(min_length=1, max_length=MOST_ID)]) -> dict[str, Any]:
        """A known node, its text, degree and neighbours."""
        served = self.holder.current
        found = served.node(node)
        return {**found, "neighbours": served.neighbours(found["position"], MOST_FOUND)}

    def map(self) -> dict[str, Any]:
        """What the map shows: its groups, by number."""
        served = self.holder.current
        drawn = served.map
        return {
            "nodes": len(drawn),
            "method": drawn.method,
            "coloring": drawn.coloring,
            "groups": [{"name": group.name, "size": group.size} for group in drawn.groups],
            "generation": served.generation,
        }

    def points(self) -> Response:
        """All points: n pairs of float32 in [-1, 1], then n group numbers of uint16."""
        return Response(self.holder.current.map.to_bytes(), media_type="application/octet-stream")

    def map_nodes(
        self, at: Annotated[list[int], Query(min_length=1, max_length=MOST_FOUND)]
    ) -> dict[str, Any]:
        """Nodes at places of the map's arrays."""
        served = self.holder.current
        if not all(0 <= place < served.graph.n_nodes for place in at):
            raise HTTPException(404, f"The map has {served.graph.n_nodes} places.")
        return {"nodes": [served.node_at(place) for place in at]}

    async def reload(self) -> dict[str, Any]:
        """Load the model folder again; requests on their way end with the model they began with."""
        try:
            served = await asyncio.to_thread(self.holder.reload)
        except PairgramError as error:
            line = f"The model loaded before is still served: {error}"
            raise HTTPException(409, line) from None
        return {"generation": served.generation, "nodes": served.model.size_}

    async def health(self) -> dict[str, Any]:
        """Whether requests are answered."""
        return {"status": "ok"}

    async def model(self) -> dict[str, Any]:
        """What is served."""
        served = self.holder.current
        return {
            "method": served.model.method,
            "nodes": served.model.size_,
            "edges": served.graph.n_edges,
            "reads_text": served.reads_text,
            "rules": list(served.model.rules_),
            "labels": served.labels,
            "fingerprint": served.model.fingerprint_,
            "generation": served.generation,
            "writable": self.token is not None,
        }

    async def show_metrics(self) -> PlainTextResponse:
        """Counts and times for Prometheus."""
        served = self.holder.current
        gauges = {
            "pairgram_waiting": ("Requests that wait for the model.", float(self.batcher.depth)),
            "pairgram_nodes": ("Nodes of the model.", float(served.model.size_)),
            "pairgram_generation": ("Models loaded so far.", float(served.generation)),
            "process_resident_memory_bytes": ("Memory of the process.", resident_bytes()),
        }
        text = self.metrics.text(gauges)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def index(self) -> Response:
        """The page."""
        return _asset("index.html")

    async def asset(self, name: str) -> Response:
        """A file of the page."""
        if name not in HOME:
            raise HTTPException(404, "The page has no such file.")
        return _asset(name)


def _tuple(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _asset(name: str) -> Response:
    content = files("pairgram").joinpath(HOME[name], "page", name).read_bytes()
    kind = f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8"
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})


def _answer_errors(api: FastAPI) -> None:
    """Every error is JSON with one line."""

    @api.exception_handler(StarletteHTTPException)
    async def _http(request: Request, error: StarletteHTTPException) -> JSONResponse:
        return one_line(error)

    @api.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return JSONResponse({"error": f"{where}: {first['msg']}".lstrip(": ")}, 422)

    @api.exception_handler(PairgramError)
    async def _ours(request: Request, error: PairgramError) -> JSONResponse:
        line = {"error": str(error)}
        if isinstance(error, BusyError):
            return JSONResponse(line, 503, {"retry-after": "1"})
        if isinstance(error, UnknownNodeError):
            return JSONResponse(line, 404)
        return JSONResponse(line, 422 if isinstance(error, InputError) else 409)

    @api.exception_handler(Exception)
    async def _defect(request: Request, error: Exception) -> JSONResponse:
        logger.error("%s: %s", request.url.path, error, exc_info=error)
        return JSONResponse({"error": "A defect in pairgram; the log of the server has it."}, 500)
