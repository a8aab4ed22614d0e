"""A webhook and a mail server of this machine that remember what they got."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def webhook(status: int = 204) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Give the address of a webhook and the list of what it was told."""
    told: list[dict[str, Any]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_given: object) -> None:
            """Say nothing."""

    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), Hook)) as port:
        yield f"http://127.0.0.1:{port}/hook", told


@contextmanager
def mail_server() -> Iterator[tuple[str, list[str]]]:
    """Give the SMTP_URL of a server without TLS and the list of the letters it got."""
    letters: list[str] = []

    class Smtp(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                word = line.strip().upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    letter = b""
                    while (part := self.rfile.readline()) != b".\r\n":
                        letter += part
                    letters.append(letter.decode())
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 yes\r\n")

    with _serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Smtp)) as port:
        yield f"smtp://127.0.0.1:{port}", letters


@contextmanager
def talking_mail_server() -> Iterator[str]:
    """Give the SMTP_URL of a server whose greeting has no end."""

    class Smtp(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                while True:
                    self.wfile.write((b"220-" + b"x" * 8_000 + b"\r\n") * 100)

    with _serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Smtp)) as port:
        yield f"smtp://127.0.0.1:{port}"


@contextmanager
def _serving(server: Any) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
