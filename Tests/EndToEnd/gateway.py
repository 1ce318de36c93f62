"""Another server on the loopback, as push gateways and application services are: keeps what it is sent and answers as the test says."""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from harness import PATIENCE


class Gateway:
    """`answer` is a function of (method, path, body) that gives (status, JSON)."""

    def __init__(self, answer=lambda method, path, body: (200, {})):
        self.answer, self.calls = answer, []
        self._changed = threading.Condition()
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = unquote(urlsplit(self.path).path)
                body = json.loads(body) if body else None
                status, answer = gateway.answer(self.command, path, body)
                with gateway._changed:
                    gateway.calls.append((self.command, path, body, self.headers.get("Authorization")))
                    gateway._changed.notify_all()
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait(self, condition, seconds=PATIENCE):
        """Returns what `condition` of the calls gives as soon as that is true."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                found = condition(self.calls)
                if found:
                    return found
                assert self._changed.wait(max(0, end - time.monotonic())) or time.monotonic() < end, self.calls

    def close(self):
        self._server.shutdown()
        self._server.server_close()
