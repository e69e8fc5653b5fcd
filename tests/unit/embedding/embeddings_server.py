"""A real HTTP server on 127.0.0.1 that behaves like /v1/embeddings, and can be told to misbehave."""

import base64
import json
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NATIVE = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "tiny": 4, "nested": 8, "rigid": 8}


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def error(status: int, message: str, *, code: str | None = None, **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def vector(text: str, dimensions: int) -> list[float]:
    """A vector that names its text, exact in float32."""
    return [float(len(text)), float(sum(text.encode()) % 4096)][:dimensions] + [0.5] * (dimensions - 2)


def embeddings(request: dict[str, Any]) -> Reply:
    """What the API answers, its limits included. The items are not in order, as the API allows."""
    inputs, model = request["input"], request["model"]
    if model not in NATIVE:
        return error(404, f"The model `{model}` does not exist", code="model_not_found")
    if len(inputs) > 2048 or any(not text for text in inputs):
        return error(400, "'$.input' is invalid")
    dimensions = request.get("dimensions")
    if dimensions is not None and model == "rigid":
        return error(400, "Model rigid does not support matryoshka representation")
    length = NATIVE[model] if dimensions is None or model == "tiny" else dimensions
    items: list[dict[str, Any]] = []
    for index, text in reversed(list(enumerate(inputs))):
        values: Any = vector(text, length)
        if request.get("encoding_format") == "base64" and model != "tiny":
            values = base64.b64encode(struct.pack(f"<{length}f", *values)).decode()
        items.append({"object": "embedding", "index": index, "embedding": values})
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Reply(body=json.dumps({"object": "list", "data": items, "model": model, "usage": usage}).encode())


class FakeServer:
    """Answers properly, unless ``replies`` holds something for the next request."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.replies: list[Reply | Callable[[dict[str, Any]], Reply]] = []
        self.always: Reply | None = None
        self.delay = 0.0
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                assert self.path == "/v1/embeddings"
                reply = fake.answer(request, {k.lower(): v for k, v in self.headers.items()})
                try:
                    self.send_response(reply.status)
                    headers = {"content-type": "application/json"} | reply.headers
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, request: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            planned = self.replies.pop(0) if self.replies else self.always or embeddings
        reply = planned(request) if callable(planned) else planned
        time.sleep(reply.delay or self.delay)
        with self._lock:
            self._at_once -= 1
        return reply

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
