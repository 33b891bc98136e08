"""Look at every page of the built site in a browser: ``python docs/generate/looks.py site``.

At the width of a phone and of a desk, light and dark: nothing may stand beyond the page unless it scrolls within it,
code may not run out of view, text must stand out from its ground (WCAG AA: 4.5 to 1, large text 3 to 1), and the
smallest letters of a figure have at least 9 pixels on a phone, exponents included. Without a
chromium nothing is checked, and it says so.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WIDTHS = (390, 1280)
SCHEMES = ("default", "slate")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 900

PROBE = Path(__file__).with_name("looks.html")
"""Runs in the browser."""


class Handler(SimpleHTTPRequestHandler):
    """Serve the site, the page that looks, and take its report."""

    def do_GET(self) -> None:
        """Answer one request."""
        if self.path.startswith("/__look"):
            body = self.server.look.encode()  # type: ignore[attr-defined]
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        """Take the report."""
        text = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
        self.server.found = json.loads(text)  # type: ignore[attr-defined]
        self.server.done.set()  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def browser() -> str | None:
    """Return a browser that starts, or None."""
    for name in BROWSERS:
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], capture_output=True, timeout=120).returncode == 0:
            return path
    return None


def look(program: str, site: Path, pages: list[str]) -> list[list[object]]:
    """Return what is wrong: page, width, scheme, words."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    text = (
        PROBE.read_text(encoding="utf-8")
        .replace("PAGES", json.dumps(pages), 1)
        .replace("WIDTHS", json.dumps(WIDTHS), 1)
    )
    server.look = text.replace("SCHEMES", json.dumps(SCHEMES), 1)  # type: ignore[attr-defined]
    server.done = threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command += [f"--user-data-dir={folder}", "--window-size=1400,1000", "--remote-debugging-port=0"]
        running = subprocess.Popen(
            [*command, f"http://127.0.0.1:{server.server_address[1]}/__look"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if not server.done.wait(SECONDS):  # type: ignore[attr-defined]
                raise SystemExit("the browser did not answer in time")
        finally:
            running.terminate()
            running.wait(30)
            server.shutdown()
            server.server_close()
    found: list[list[object]] = server.found  # type: ignore[attr-defined]
    return found


def main(arguments: list[str]) -> int:
    """Look at all pages, or at those that are named."""
    site = Path(arguments[0]).resolve()
    program = browser()
    if program is None:
        print("no chromium: nobody looked at the pages")
        return 0
    pages = arguments[1:] or sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    pages = [page for page in pages if not re.match(r"404\.html$", page)]
    found = look(program, site, pages)
    for page, width, scheme, words in found:
        print(f"{page} at {width} px{f' ({scheme})' if scheme else ''}: {words}")
    print(f"{len(pages)} pages looked at, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
