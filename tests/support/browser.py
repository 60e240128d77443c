"""Chromium without a window, by the DevTools protocol over a pair of pipes.

The pipes are the descriptors 3 and 4 of Chromium (`--remote-debugging-pipe`). A message is JSON
with a NUL behind it. No port is opened, and no network is needed.
https://chromedevtools.github.io/devtools-protocol/ describes the messages.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from processes import started

# Chromium starts in a second on a machine that has nothing else to do.
TIMEOUT = 180

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)

KEYS = {"Enter": 13, "Backspace": 8, "Home": 36, "Escape": 27, "Tab": 9}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def program() -> str:
    """Returns the path of Chromium. Skips the test if there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("needs chromium: scripts/setup installs it")
    return found


class Browser:
    """A running Chromium with one tab."""

    def __init__(self, process: subprocess.Popen, to: int, out: int):
        self.process, self.to, self.out = process, to, out
        self.number, self.unread = 0, b""
        self.session: str | None = None
        # Messages of the console since the last page was opened, and requested addresses.
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(1280, 900)

    def message(self, end: float) -> dict:
        """Returns the next message from Chromium."""
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.out], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.out, 1 << 16) if ready else b""
            assert piece, f"Chromium is silent; status {self.process.poll()}"
            self.unread += piece
        text, _, self.unread = self.unread.partition(b"\0")
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message: dict) -> None:
        """Keeps what an event says of errors and requests."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Log.entryAdded":
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(json.dumps(params["args"]))

    def call(self, method: str, **params: Any) -> dict:
        """Sends a command and returns its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            command["sessionId"] = self.session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]
        end = time.monotonic() + TIMEOUT
        while True:
            message = self.message(end)
            if message.get("id") == self.number:
                assert "error" not in message, (method, message)
                return message["result"]

    def open(self, file: Path, *, script: bool = True) -> Browser:
        """Opens a file, and waits until it is loaded and drawn."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Page.navigate", url="about:blank")
        self.errors, self.requests = [], []
        self.call("Page.navigate", url=file.as_uri())
        state = "document.readyState + location.href"
        end = time.monotonic() + TIMEOUT
        while self.evaluate(state) != f"complete{file.as_uri()}":
            assert time.monotonic() < end
        if script:
            self.settle()
        return self

    def settle(self) -> None:
        """Waits until the page has drawn what it has planned."""
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.call("Runtime.evaluate", expression=frames, awaitPromise=True)

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, is_true: Callable[[], bool]) -> None:
        """Waits until something is true."""
        end = time.monotonic() + TIMEOUT
        while not is_true():
            assert time.monotonic() < end
            self.settle()

    def resize(self, width: int, height: int, scale: float = 1) -> None:
        """Sets the size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def media(self, scheme: str, media: str = "") -> None:
        """Sets the colour scheme that the user prefers, and the medium."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.settle()

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Sends an event of the mouse, at a place in the window."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Clicks at a place in the window."""
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def press(self, key: str) -> None:
        """Presses a key."""
        for kind in ("keyDown", "keyUp"):
            code = KEYS[key]
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )
        self.settle()

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Returns left, top, width and height of an element in the window, after scrolling to it.

        The quarter of the window above it stays free.
        """
        script = (
            f"(e => {{ scrollBy(0, e.getBoundingClientRect().y - innerHeight / 4); "
            f"const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})"
            f"(document.querySelector({json.dumps(selector)}))"
        )
        return tuple(self.evaluate(script))

    def screenshot(self, file: Path) -> None:
        """Writes a picture of the window to a PNG file."""
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        file.write_bytes(base64.b64decode(picture))

    def pdf(self) -> bytes:
        """Returns the page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Starts Chromium with a new profile below `folder`, and ends it."""
    chromium = program()
    (in_read, in_write), (out_read, out_write) = os.pipe(), os.pipe()
    # Root has no use for the sandbox: Chromium refuses to start with it.
    flags = [*FLAGS, f"--user-data-dir={folder}"]
    flags += ["--no-sandbox"] if os.geteuid() == 0 else []
    # The first pipe has the smallest number, so neither redirection hides the other's descriptor.
    script = f'exec "$@" 3<&{in_read} 4>&{out_write}'
    command = ["bash", "-c", script, "bash", chromium, *flags, "about:blank"]
    with (
        open(folder / "messages", "wb") as messages,
        started(
            command,
            pass_fds=(in_read, out_write),
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=messages,
            env={**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
        ) as process,
    ):
        os.close(in_read)
        os.close(out_write)
        try:
            running = Browser(process, in_write, out_read)
            yield running
            running.session = None
            running.call("Browser.close")
            process.wait(TIMEOUT)
        finally:
            os.close(in_write)
            os.close(out_read)
