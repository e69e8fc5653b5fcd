"""Where the async client's connections come from, and how it runs flows on them."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from ragpg.client.async_runtime import Lock, run_blocking, sleep
from ragpg.client.retry import connection_lost, retry_delay
from ragpg.db.connect import connection_string
from ragpg.db.errors_map import translating
from ragpg.db.flow import Blocking, Call, Flow, Step
from ragpg.db.rows import Row
from ragpg.errors import ConfigError, RagpgError

T = TypeVar("T")

_MAX_CONNECTIONS = 8
_POOL_TIMEOUT = 10.0


class AsyncDatabase:
    """A URL's own pool, a pool that was handed over, or a single connection that was handed over.

    On a pool every statement is a transaction of its own. On a handed connection it is part of the caller's
    transaction, which is never committed, rolled back or closed here.
    """

    def __init__(
        self,
        url: str | None,
        *,
        pool: AsyncConnectionPool[Any] | None,
        connection: AsyncConnection[Any] | None,
    ) -> None:
        if [url, pool, connection].count(None) != 2:
            raise ConfigError(
                "a client needs one of: a database URL (or RAGPG_DATABASE_URL), pool=…, connection=…"
            )
        self._url = None if url is None else connection_string(url)
        self._pool = pool
        self._connection = connection
        self._opening = Lock()
        self._closed = False

    @property
    def handed_connection(self) -> bool:
        """Whether statements run inside the caller's own transaction, which an error aborts."""
        return self._connection is not None

    async def drive(self, flow: Flow[T]) -> T:
        """Run a flow to its end: its statements here, its slow functions in a thread."""
        try:
            step = next(flow)
            while True:
                try:
                    result = await self._run(step)
                except RagpgError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as stop:
            return cast("T", stop.value)
        finally:
            flow.close()

    async def close(self) -> None:
        """Close the pool that was opened for the URL. Anything handed over stays open, but is not used any more."""
        # In turn with opening: a pool that is being opened is closed too.
        async with self._opening:
            self._closed = True
            if self._url is not None and self._pool is not None:
                pool, self._pool = self._pool, None
                await pool.close()

    async def _run(self, step: Step) -> object:
        self._refuse_if_closed()
        if isinstance(step, Blocking):
            return await run_blocking(step.function)
        return await self._execute(step)

    async def _execute(self, call: Call[T]) -> T:
        if self._connection is not None:
            with translating():
                return call.parse(await _fetch(self._connection, call))
        with translating():
            pool = await self._open_pool()
        attempt = 1
        while True:
            connected = sent = False
            try:
                with translating():
                    async with pool.connection() as connection:
                        connected = True
                        if not call.repeatable:
                            await pool.check_connection(connection)
                            sent = True
                        rows = await _fetch(connection, call)
                return call.parse(rows)
            except RagpgError as error:
                delay = retry_delay(error, attempt, reconnect=connected and not sent)
                if delay is None:
                    raise
                if connection_lost(error):
                    # The others in the pool are likely to be as dead: a restarted server has dropped them all.
                    with translating():
                        await pool.check()
            await sleep(delay)
            attempt += 1

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise ConfigError("the client is closed: make a new one")

    async def _open_pool(self) -> AsyncConnectionPool[Any]:
        if self._pool is not None:
            return self._pool
        async with self._opening:
            self._refuse_if_closed()
            if self._pool is None:
                url = cast("str", self._url)
                # A pool retries in the background and reports a timeout; this one tells at once what is wrong.
                await (await AsyncConnection.connect(url)).close()
                # Statements are never prepared and nothing is set on a session, so that the URL may be
                # that of PgBouncer in transaction mode.
                pool = AsyncConnectionPool(
                    url,
                    min_size=0,
                    max_size=_MAX_CONNECTIONS,
                    timeout=_POOL_TIMEOUT,
                    num_workers=1,
                    open=False,
                    kwargs={
                        "autocommit": True,
                        "prepare_threshold": None,
                        "fallback_application_name": "ragpg",
                    },
                )
                await pool.open()
                self._pool = pool
            return self._pool


async def _fetch(connection: AsyncConnection[Any], call: Call[Any]) -> list[Row]:
    async with AsyncCursor(connection, row_factory=dict_row) as cursor:
        await cursor.execute(call.sql, call.params, prepare=False)
        return cast("list[Row]", await cursor.fetchall())
