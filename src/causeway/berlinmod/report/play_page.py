"""One page that needs no network: the city, with its vehicles moving."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.model.calendar import HOUR_MS, day_start
from causeway.berlinmod.report.play_data import Window, play_data
from causeway.report.page import as_script_data, write_page
from causeway.runtime.errors import UserError

__all__ = ["PLAY_FILE", "write_play_page"]

PLAY_FILE: Final = "play.html"
_RATES: Final = {1: "real time", 10: "10 s/s", 60: "1 min/s", 300: "5 min/s", 1200: "20 min/s"}

_BODY: Final = """
<div id="map"><canvas id="ground"></canvas></div>
<canvas id="city" aria-label="Map of the city with its vehicles; click one to follow it"></canvas>
<div class="panel" id="clock"><h1>TITLE</h1><div id="time"></div><div id="day"></div>
<div id="counts"><b id="driving"></b> of COUNT vehicles are driving</div></div>
<div class="panel" id="vehicle" hidden><h2 id="licence"></h2><p class="facts" id="model"></p>
<div id="state"></div><button id="stop">Stop following</button><ul id="trips"></ul></div>
<div class="panel" id="bar"><div id="controls">
<button id="play" aria-pressed="false">Play</button>
<label><span class="wide">Speed </span><select id="rate" aria-label="Speed">RATES</select></label>
<button id="any">Follow one</button>
<input type="text" id="search" class="wide" placeholder="licence" aria-label="Licence to follow">
<button id="whole">Whole city</button>
<button id="districts" aria-pressed="true">Districts</button>
<span class="space"></span><span class="legend" id="legend"></span></div>
<div id="timeline"><canvas id="chart"></canvas>
<input type="range" id="slider" min="0" step="1" aria-label="Time"></div></div>
"""


def write_play_page(
    dataset: Dataset,
    *,
    start: datetime | None = None,
    hours: float = 24.0,
    vehicles: int = 2000,
    page: Path | None = None,
) -> Path:
    """Write the page, whole or not at all; default: `play.html` in the data set's folder.

    It shows up to `vehicles` vehicles for `hours` from `start` on, in the city's own time; default: from the
    first day's midnight on. Hours after the last day are left out.
    """
    window = _window(dataset, start, hours)
    if vehicles < 1:
        raise UserError(f"{vehicles} vehicles cannot be shown; one or more can")
    data = play_data(dataset, window, vehicles)
    shown = len(data["licences"])
    count = (
        f"{shown:,}" if shown == dataset.parameters.cars else f"{shown:,} (of {dataset.parameters.cars:,})"
    )
    rates = "".join(f'<option value="{rate}">{words}</option>' for rate, words in _RATES.items())
    title = f"BerlinMOD: {dataset.map.get('name', 'a city')}"
    body = _BODY.replace("RATES", rates).replace("COUNT", count).replace("TITLE", escape(title))
    target = page or dataset.folder / PLAY_FILE
    return write_page(target, _html(title, body, as_script_data(data)))


def _window(dataset: Dataset, start: datetime | None, hours: float) -> Window:
    parameters = dataset.parameters
    first, last = day_start(parameters.start_day), day_start(parameters.start_day + parameters.days)
    begin = first if start is None else int(start.replace(tzinfo=UTC).timestamp() * 1000)
    if not hours > 0:
        raise UserError(f"{hours:g} hours cannot be shown; give more than 0")
    if not first <= begin < last:
        raise UserError(
            f"the data begins {_words(first)} and ends {_words(last)}; {_words(begin)} is not in it"
        )
    return Window(begin, min(begin + max(int(hours * HOUR_MS), 1000), last))


def _words(instant: int) -> str:
    return f"{datetime.fromtimestamp(instant / 1000, UTC):%Y-%m-%d %H:%M}"


def _html(title: str, body: str, data: str) -> str:
    """The page. Its policy lets the browser run our script and no other, and load nothing."""
    folder = Path(__file__).parent
    script, style = ((folder / name).read_text(encoding="utf-8") for name in ("play.js", "play.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>{body}"
        f'<script type="application/json" id="play-data">{data}</script>'
        f"<script>{script}</script></body></html>\n"
    )
