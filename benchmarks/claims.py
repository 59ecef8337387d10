"""What a printed sentence claims, read from its text, and whether that is true of a game."""

import re
from typing import NamedTuple

import numpy as np
from games import TARGET, Game

from bocopt.core import Array


class Claim(NamedTuple):
    """Between what the average gain lies, at all times at once: positive is better."""

    kind: str
    low: float
    high: float
    side: int  # 1 said to be better, -1 to be worse, 0 open
    digit: float  # what one more in the last printed place is
    share: bool = False  # in percent of what is paid now, or an amount a stage
    whatever: bool = False  # of all stages, or of those with an outcome
    of: str = "gain"  # of the policy; or what the decisions taken bring, or how often they may be
    since: int = 0  # the compared stage since which the side is known; 0: it is not said


OWN, FEASIBLE, WIDTH = "own", "feasible", "width"
ROUGHLY = "roughly, of one look"  # by a bootstrap: nothing is promised


_NUMBER = r"(-?[\d,.]+(?:e[+-]?\d+)?)"
_ENDS = rf"{_NUMBER}(?: to {_NUMBER})?"  # one number where both are written alike
_LARGE = re.compile(rf"\([\d.]+%: {_ENDS}(?P<unit>[^)]*)\)")
_AMOUNT = re.compile(rf" {_ENDS} EUR a stage \([\d.]+%\)")


def in_large_sentence(said: str) -> list[Claim]:
    """What the first sentence of a report claims."""
    found = []
    for part in re.split(r"(?<=\.) (?=If )", said):
        match = _LARGE.search(part) or _AMOUNT.search(part)
        if match is None:
            continue
        is_open, whatever = "which is better is open" in part, part.startswith("Whatever")
        gained = "saved" in part or ("more than" in part and "earned" in part)
        ends = match[1], match[2] or match[1]
        low, high = map(_value, ends)
        if not gained:
            low, high = -high, -low
        unit = match.groupdict().get("unit", " EUR a stage")
        kind = (
            "whatever is missing"
            if whatever
            else "percent"
            if not unit and "%" in part.partition("(")[0]
            else "amount"
        )
        found.append(
            Claim(
                kind,
                low,
                high,
                0 if is_open else 1 if gained else -1,
                _last_places(*ends),
                share=kind == "percent",
                whatever=whatever,
            )
        )
    return found


_TOLD = re.compile(
    r"expected at these stages: (?P<amounts>[^;(]*)(?:\((?P<percent>[^)]*)\))?; "
    r"(?P<verdict>[^.]*)\."
)
_SIDED = re.compile(rf"{_NUMBER}(?: EUR|%)? (less|more)")
_BOTH = re.compile(rf"{_NUMBER} to {_NUMBER}(?: EUR|%)? (less|more)")


def in_words(said: str, earned: bool) -> list[Claim]:
    """What `Compared.words` claims of all stages."""
    match = _TOLD.search(said)
    if match is None:
        return []
    side, since = _verdict(match["verdict"])
    found = [
        _sided(kind, match[kind], earned, side, since)
        for kind in ("amounts", "percent")
        if match[kind] is not None
    ]
    once = re.search(r"does not change(?:, of [^:]*)?: (.*) \(block bootstrap", said)
    if once is not None:
        whatever = "stages with an outcome" not in once[0]
        found.append(_sided("", once[1], earned, 0)._replace(kind=ROUGHLY, whatever=whatever))
    return found


def _verdict(words: str) -> tuple[int, int]:
    """The side, and since which compared stage it is known; 0 where it is open."""
    known = re.search(r"known since compared stage (\d+)", words)
    if known is None:
        return 0, 0
    return (1 if words.startswith("better") else -1), int(known[1])


def _sided(kind: str, text: str, earned: bool, side: int, since: int = 0) -> Claim:
    """Of '2 to 4 less', 'from 1 less to 4 more' or '2 less'."""
    both = _BOTH.search(text)
    parts = [(both[1], both[3]), (both[2], both[3])] if both else _SIDED.findall(text)
    good = "more" if earned else "less"
    ends = [_value(number) * (1.0 if word == good else -1.0) for number, word in parts]
    digit = _last_places(*(number for number, _ in parts))
    name = f"{kind} in words"
    share = kind == "percent"
    return Claim(name, min(ends), max(ends), side, digit, share, whatever=True, since=since)


def in_monitor(said: str, earned: bool) -> list[Claim]:
    """What the lines of a monitor claim: of the decisions taken, and of the policy beside them."""
    found = []
    most = re.search(rf"^headline: .* is at (most|least) {_NUMBER} \(seen", said, re.MULTILINE)
    if most is not None:
        gain = _value(most[2]) * (1.0 if earned else -1.0)  # of what is earned, at least
        found.append(Claim("headline", gain, np.inf, 0, _last_places(most[2]), of=OWN))
    band = re.search(rf"Feasible between {_NUMBER} and {_NUMBER}(:[^.]*\.[^.]*\.)?", said)
    if band is not None:
        low, high = _value(band[1]), _value(band[2].rstrip("."))
        found.append(_feasible("feasible", low, high, band[3] or "", 1e-3))
    if "No outcome could change what they cost." in said:
        found.append(Claim("a note", 0.0, 0.0, 0, 0.0, of=WIDTH))
    wide = re.search(rf"The range was up to {_NUMBER} wide", said)
    if wide is not None:
        width = _value(wide[1])
        found.append(Claim("a note", width, width, 0, _last_places(wide[1]), of=WIDTH))
    told = re.search(r"policy (?:costs|earns) (.*) a stage on average than .*\): ([^.]*)", said)
    if told is not None:
        found.append(_sided("comparison", told[1], earned, *_verdict(told[2])))
    return found


def _feasible(kind: str, low: float, high: float, verdict: str, digit: float) -> Claim:
    """A band of the chance of a feasible decision, cut where the target is met, or is not."""
    if "is met" in verdict and "open" not in verdict:
        low = max(low, TARGET)
    if "is not met" in verdict:
        high = min(high, TARGET)
    return Claim(kind, low, high, 0, digit, whatever=True, of=FEASIBLE)


_BAND = re.compile(rf"feasible[^(]*\([\d.]+%, at all times[^:]*: {_ENDS}\)([^.]*)\.")


def in_band(kind: str, said: str) -> list[Claim]:
    """What a report, or the page of a stream, says of feasibility."""
    match = _BAND.search(said)
    if match is None:
        return []
    ends = match[1], match[2] or match[1]
    low, high = (_value(end) / 100.0 for end in ends)
    return [_feasible(kind, low, high, match[3], _last_places(*ends) / 100.0)]


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _last_places(*numbers: str) -> float:
    """The larger one; a plain 0 has none."""
    return max((_last_place(each) for each in numbers if _value(each)), default=0.0)


def _last_place(number: str) -> float:
    """What one more in the last place is; of whole numbers, of the fourth digit."""
    mantissa, _, exponent = number.replace(",", "").partition("e")
    places = len(mantissa.partition(".")[2])
    digits = len(mantissa.strip("-").replace(".", "").lstrip("0"))
    rounded = 0 if places else max(digits - 3, 0)
    return float(10.0 ** (int(exponent or 0) - places + rounded))


def is_untrue(game: Game, claim: Claim) -> bool:
    """Whether what was to be expected is not as claimed, but for the rounding in print."""
    seen = ~game.hidden | claim.whatever
    now, policy = game.expected[seen].sum(axis=0)
    gain, stages = now - policy, int(seen.sum())
    if claim.of == WIDTH:
        outside = (game.paid[:, :1] < game.own[:, :1]) | (game.paid[:, :1] > game.own[:, 1:])
        true = np.inf if outside.any() else float(np.diff(game.own, axis=-1).max())
    elif claim.of == FEASIBLE:
        true = game.feasible
    elif claim.of == OWN:
        true = -now / stages
    else:
        true = 100.0 * gain / abs(now) if claim.share else gain / stages
    near = 1e-9 * float(np.abs(game.expected).max()) + 0.5001 * claim.digit
    wrong = not claim.low - near <= true <= claim.high + near
    return bool(wrong or claim.side * true < -near or _was_not(game.expected[seen], claim))


def _was_not(expected: Array, claim: Claim) -> bool:
    """Whether the average so far was on the other side at a stage since it is said to be known."""
    if not claim.since:
        return False
    gains = np.cumsum(expected[:, 0] - expected[:, 1])[claim.since - 1 :]
    near = 1e-9 * float(np.abs(expected).sum())
    return bool((claim.side * gains < -near).any())
