"""`bocopt init`: small cases to begin with, each with a problem, made-up data and a client."""

import csv
import io
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta
from importlib.resources import files
from typing import Any

import numpy as np

Rows = Iterator[dict[str, Any]]
_FIRST = date(2024, 1, 1)


def _days(many: int) -> Iterator[tuple[int, date]]:
    return ((t, _FIRST + timedelta(days=t)) for t in range(many))


def newsvendor() -> Rows:
    """Papers and magazines sold at a kiosk; ordered was last week's demand and a little more."""
    rng = np.random.default_rng(1)
    sold: list[tuple[int, int]] = []
    for t, day in _days(500):
        warm = 12 - 10 * np.cos(2 * np.pi * t / 365) + rng.normal(0, 3)
        rain = rng.random() < 0.3
        weekend = day.weekday() >= 5
        mean = 60 + 1.2 * warm - 18 * rain + 25 * weekend
        papers = int(rng.negative_binomial(12, 12 / (12 + max(mean, 5))))
        magazines = int(rng.poisson(max(8 + 0.2 * papers - 3 * rain, 1)))
        ordered = [round(1.1 * n) for n in (sold[t - 7] if t >= 7 else (70, 20))]
        sold.append((papers, magazines))
        yield {
            "date": day.isoformat(),
            "temperature": round(warm, 1),
            "weather": "rain" if rain else "dry",
            "papers": papers,
            "magazines": magazines,
            "ordered papers": ordered[0],
            "ordered magazines": ordered[1],
        }


def staffing() -> Rows:
    """Calls in the morning, at noon, in the afternoon and the evening of a help desk."""
    rng = np.random.default_rng(2)
    for t, day in _days(400):
        busy = 1.0 + 0.35 * (day.weekday() == 0) - 0.3 * (day.weekday() >= 5)
        campaign = rng.random() < 0.1
        level = busy * (1.4 if campaign else 1.0) * np.exp(rng.normal(0, 0.12)) * (1 + t / 2000)
        calls = rng.poisson(level * np.array([9.0, 16.0, 13.0, 6.0]))
        yield {
            "date": day.isoformat(),
            "campaign": int(campaign),
            **dict(zip(("morning", "noon", "afternoon", "evening"), calls.tolist(), strict=True)),
        }


def allocation() -> Rows:
    """Demand for power in three districts, which share what one plant and the market deliver."""
    rng = np.random.default_rng(3)
    swing = np.zeros(3)
    for t, day in _days(450):
        warm = 10 - 12 * np.cos(2 * np.pi * t / 365) + rng.normal(0, 4)
        swing = 0.6 * swing + rng.normal(0, 4, 3)
        heating = np.maximum(16 - warm, 0) * np.array([1.2, 0.8, 0.5])
        work = np.array([30.0, 45.0, 20.0]) * (0.8 if day.weekday() >= 5 else 1.0)
        demand = np.maximum(work + heating + swing, 1.0)
        forecast = warm + rng.normal(0, 1)
        yield {
            "date": day.isoformat(),
            "forecast": round(forecast, 1) if rng.random() > 0.03 else "",
            **{f"district {c}": round(d, 1) for c, d in zip("ABC", demand, strict=True)},
        }


def portfolio() -> Rows:
    """Daily returns, in percent, of four assets; what is done now is to hold a quarter of each."""
    rng = np.random.default_rng(4)
    spread, mood = 1.0, 0.0
    for _, day in _days(600):
        mood = 0.95 * mood + rng.normal(0, 0.3)
        spread = 0.9 * spread + 0.1 * np.exp(rng.normal(0, 0.6))
        common = rng.standard_t(5)
        own = rng.standard_t(5, 4)
        shares = np.array([0.3, 0.6, 0.9, 0.1])
        returns = (0.05 * mood + spread * (0.6 * common + 0.5 * own)) * shares + 0.02
        yield {
            "date": day.isoformat(),
            "mood": round(mood, 2),
            "volatility": round(spread, 2),
            **{f"asset {c}": round(r, 3) for c, r in zip("ABCD", returns, strict=True)},
        }


def shops() -> Rows:
    """Loaves sold by 24 shops: four open late, one closes, and promotions draw buyers."""
    rng, many = np.random.default_rng(5), 24
    size = np.exp(rng.normal(3.6, 0.5, many)).round()
    pull = rng.uniform(1.2, 1.8, many)  # of a promotion
    opens = [0] * (many - 4) + [60, 100, 140, 180]
    sold: dict[int, dict[int, int]] = {shop: {} for shop in range(many)}
    for t, day in _days(240):
        weather = rng.normal(0.0, 0.15)  # which all shops share
        weekend = 1.4 if day.weekday() >= 5 else 1.0
        for shop in range(many):
            promotion, noise = rng.random() < 0.12, rng.normal(0.0, 0.2)
            if t < opens[shop] or (shop == 3 and t >= 150):
                continue
            mean = size[shop] * weekend * (pull[shop] if promotion else 1.0)
            sold[shop][t] = int(rng.poisson(mean * np.exp(weather + noise)))
            known = [sold[shop][s] for s in range(t - 7, t) if s in sold[shop]]
            yield {
                "date": day.isoformat(),
                "shop": f"shop {shop + 1:02}",
                "region": "north" if shop < many // 2 else "south",
                "promotion": int(promotion),
                "loaves": sold[shop][t],
                "baked": round(1.1 * known[0]) if known else 40,
            }


MADE: Mapping[str, Callable[[], Rows]] = {
    "newsvendor": newsvendor,
    "staffing": staffing,
    "allocation": allocation,
    "portfolio": portfolio,
    "shops": shops,
}
PANELS = ("shops",)  # of several series
EXAMPLES = tuple(name for name in MADE if name not in PANELS)  # with a client of a service


def starter(name: str) -> dict[str, bytes]:
    """The files of one of them, by name: a case on its data, and mostly a client of a service."""
    config = _text(name, "bocopt.toml")
    [(case, settings)] = tomllib.loads(config)["cases"].items()
    data = settings["data"]
    known = [data["time"], *data.get("context", ()), *data.get("categories", ())]
    parts = {"@case": case, "@known": json.dumps(known), "@outcome": json.dumps(data["outcome"])}
    texts = {
        "bocopt.toml": config,
        "problem.py": _text(name, "problem.txt"),
        "data.csv": _csv(MADE[name]()),
    }
    if name not in PANELS:
        texts["client.py"] = _filled(_text("client.txt"), parts)
    return {name: text.encode() for name, text in texts.items()}


def _text(*path: str) -> str:
    return files("bocopt.app.starters").joinpath(*path).read_text(encoding="utf-8")


def _filled(text: str, parts: Mapping[str, str]) -> str:
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _csv(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
