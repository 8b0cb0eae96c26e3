"""Headless Chromium for tests of pages, driven by chromedriver's W3C protocol.

A test that needs it is skipped where either of the two is not installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

__all__ = ["Browser", "open_browser"]

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--hide-scrollbars",
)
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which the protocol names an element."""
_PATIENCE_SECONDS = 60

# Calls back when the expression is true. A busy machine may take long to draw a page.
_WAIT = """
const done = arguments[0];
const timer = setInterval(() => { if (EXPRESSION) { clearInterval(timer); done(true); } }, 20);
"""


class Browser:
    """One window."""

    def __init__(self, session: str) -> None:
        """`session` is the session's address at chromedriver."""
        self._session = session

    def load(self, page: Path, width: int) -> None:
        """Load a page from a file, on a screen of this width. Errors of the page before are forgotten."""
        self.errors()
        screen = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600}
        self._post("goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride", params=screen)
        self._post("url", url=page.absolute().as_uri())

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self._post("execute/sync", script=f"return {expression}", args=[])

    def wait_for(self, expression: str) -> None:
        """Return when a JavaScript expression has become true."""
        self._post("execute/async", script=_WAIT.replace("EXPRESSION", expression), args=[])

    def texts(self, selector: str) -> list[str]:
        """What the elements say that can be seen."""
        return [str(self._get(f"element/{element}/text")) for element in self._find(selector)]

    def click(self, selector: str) -> None:
        """Click the first such element, as a user does: it fails where something covers it."""
        self._post(f"element/{self._find(selector)[0]}/click")

    def click_inside(self, selector: str, x: float, y: float) -> None:
        """Click into an element, at shares of its width and height."""
        element = self._find(selector)[0]
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        size = self._get(f"element/{element}/rect")
        place = {"x": round((x - 0.5) * size["width"]), "y": round((y - 0.5) * size["height"])}
        move = {"type": "pointerMove", "duration": 0, "origin": {_ELEMENT: element}}
        # Plotly takes a click on the point above which the pointer has come to rest.
        actions = [move | place | {"x": place["x"] - 1}, move | place]
        actions += [{"type": "pause", "duration": 100}]
        actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._post("actions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])

    def choose(self, selector: str, text: str) -> None:
        """Choose an option of a select element by its text."""
        for option in self._find(f"{selector} option"):
            if self._get(f"element/{option}/text") == text:
                self._post(f"element/{option}/click")
                return
        raise AssertionError(f"{selector} has no option {text}")

    def errors(self) -> list[str]:
        """Errors that scripts have thrown or logged since the last call."""
        entries = self._post("se/log", type="browser")
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def _find(self, selector: str) -> list[str]:
        found = self._post("elements", using="css selector", value=selector)
        assert found, f"the page has no {selector}"
        return [element[_ELEMENT] for element in found]

    def _get(self, command: str) -> Any:
        return _call("GET", f"{self._session}/{command}")

    def _post(self, command: str, **facts: Any) -> Any:
        return _call("POST", f"{self._session}/{command}", facts)


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own; skips the test where there is no Chromium or no chromedriver."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("pages are tested in Chromium: install chromium and chromium-driver")
    environment = os.environ | {"HOME": str(profile), "no_proxy": "*"}
    with subprocess.Popen(
        [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        try:
            address = f"http://127.0.0.1:{_port(process)}/session"
            options = {"binary": chromium, "args": [*_FLAGS, f"--user-data-dir={profile / 'profile'}"]}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            session = _call("POST", address, {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            try:
                patience = {"script": 1000 * _PATIENCE_SECONDS, "pageLoad": 1000 * _PATIENCE_SECONDS}
                _call("POST", f"{address}/{session}/timeouts", patience)
                yield Browser(f"{address}/{session}")
            finally:
                _call("DELETE", f"{address}/{session}")
        finally:
            process.terminate()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"started successfully on port (\d+)", line):
            return int(found[1])
    raise AssertionError("chromedriver has ended")


def _call(method: str, address: str, facts: dict[str, Any] | None = None) -> Any:
    body = None if facts is None else json.dumps(facts).encode()
    request = Request(address, body, {"Content-Type": "application/json"}, method=method)
    try:
        with urlopen(request, timeout=2 * _PATIENCE_SECONDS) as reply:
            return json.load(reply)["value"]
    except OSError as refused:
        reason = refused.read().decode() if hasattr(refused, "read") else str(refused)
        raise AssertionError(f"{method} {address.rpartition('/')[2]}: {reason[:500]}") from refused
