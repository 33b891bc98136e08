"""A chromium that is spoken to through two pipes: real keys and fingers, without a server and without a library."""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import subprocess
from pathlib import Path
from typing import Any

SECONDS = 120
"""How long the browser is waited for."""


class Page:
    """One page of one browser; a context manager that ends both."""

    def __init__(self, program: str, profile: Path, *, width: int, height: int = 844, touch: bool = False) -> None:
        (theirs_in, self._out), (self._in, theirs_out) = os.pipe(), os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command += [f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        # The browser reads from 3 and writes to 4.
        script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._number, self._rest, self._session = 0, b"", None
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")[
            "targetId"
        ]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        # With all that it has started, and whether it wants to or not.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(60)
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and return what it answers."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], SECONDS)[0]:
                raise RuntimeError(f"the browser said nothing for {SECONDS} s")
            part = os.read(self._in, 1 << 16)
            if not part:
                raise RuntimeError("the browser ended")
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)

    def open(self, address: str) -> None:
        """Open an address and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        while self._message().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", "an exception"))
        return found["result"].get("value")

    def key(self, name: str, *, code: int, text: str = "") -> None:
        """Press and release a key."""
        press = {"key": name, "code": name, "windowsVirtualKeyCode": code, "text": text}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **press)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{**press, "text": ""})

    def swipe(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Put a finger down, move it, and take it away; a tap where both places are one."""
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": start[0], "y": start[1]}])
        for share in (0.25, 0.5, 0.75, 1.0) if start != end else ():
            x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
            self.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def picture(self, path: Path) -> None:
        """Save the whole page as a picture."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")["data"]
        path.write_bytes(base64.b64decode(data))
