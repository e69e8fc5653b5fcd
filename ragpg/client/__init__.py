"""The clients: :class:`Client` and, the same with ``await``, :class:`AsyncClient`."""

from ragpg.client.async_client import AsyncClient
from ragpg.client.sync_client import Client

__all__ = ["AsyncClient", "Client"]
