"""A local server that behaves like /v1/chat/completions."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """One scripted answer; ``delay`` seconds pass before it."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def completion(text: str | None, **changes: Any) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    choice.update(changes.pop("choice", {}))
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [choice],
        "usage": {"prompt_tokens": 120, "completion_tokens": 8, "total_tokens": 128, "details": {"x": 1}},
        **changes,
    }
    return Reply(body=json.dumps(body))


def failure(status: int, message: str = "no", *, code: str | None = None, **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message, "type": "x", "param": None, "code": code}})
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class ChatServer:
    """Answers with the scripted replies in turn, the last one for ever; keeps every request."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.keys: list[str] = []
        self._closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.times.append(time.monotonic())
                outer.keys.append(self.headers.get("Authorization", ""))
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                outer._closing.wait(reply.delay)
                if self.path != "/v1/chat/completions":
                    reply = failure(404, "no such path")
                data = reply.body.encode()
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client gave up, as the time-out test wants

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
