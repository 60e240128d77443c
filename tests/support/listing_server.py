"""The example that is a web server, and its clients."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from processes import TIMEOUT, started

from support.run import environment


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen, address: tuple[str, int]):
        self.process, self.address = process, address

    def get(self, path: str) -> tuple[int, bytes]:
        """Returns status and body of an answer; raises IncompleteRead if the answer is cut off."""
        client = http.client.HTTPConnection(*self.address, timeout=TIMEOUT)
        with contextlib.closing(client):
            client.request("GET", path)
            answer = client.getresponse()
            return answer.status, answer.read()

    def listing(self, path: str) -> list[dict]:
        """Returns the entries of a directory."""
        status, body = self.get(path)
        assert status == 200, body
        return [json.loads(line) for line in body.splitlines()]

    def stalled(self, path: str) -> socket.socket:
        """Gives a client that reads only the beginning of its answer."""
        client = socket.create_connection(self.address, timeout=TIMEOUT)
        # A small buffer, so that the server soon has to wait.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert client.recv(64).startswith(b"HTTP/1.1 200 OK")
        return client

    def peak(self) -> int:
        """Returns the server's largest memory so far, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024


@contextlib.contextmanager
def serving(program: Path, root: Path) -> Iterator[Server]:
    """Gives the server on a free port. At the end it must still run, and is ended."""
    command = [program, root, "127.0.0.1:0"]
    with started(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    ) as process:
        said = process.stdout.readline()
        assert said.startswith("listening on "), process.stderr.read()
        host, _, port = said.removeprefix("listening on ").strip().rpartition(":")
        yield Server(process, (host, int(port)))
        assert process.poll() is None, process.stderr.read()
