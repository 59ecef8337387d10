"""Sentences as users read them, made of a game by the code that makes them for users."""

import json
from functools import cache
from typing import NamedTuple

import numpy as np
from claims import Claim, in_band, in_large_sentence, in_monitor, in_words
from games import TARGET, Game, Priced

from bocopt.app.features.series import Series
from bocopt.app.findings import Findings, Played
from bocopt.app.page.feasible import feasibility
from bocopt.app.page.headline import sentence
from bocopt.app.page.markup import unmarked
from bocopt.app.page.view import ReportView
from bocopt.app.playing.verdict import compared
from bocopt.app.service.page.seen import StreamView
from bocopt.app.service.page.stream import stream_page
from bocopt.app.service.shown import certificate_shown
from bocopt.app.service.stores import OutcomeTotals
from bocopt.app.service.stream_template import StreamTemplate, template_of
from bocopt.core import Sense
from bocopt.guarantees import Evidence, Monitor
from bocopt.guarantees.certificate import Certificate, Shadow
from bocopt.policies import Constant

NOW, POLICY = "now", "policy"


class Printed(NamedTuple):
    large: str  # the first sentence of the report of a study
    words: str  # of the comparison, on the terminal
    feasible: str = ""  # the section of the report


def printed(game: Game, delta: float) -> Printed:
    """What a study says."""
    stages, sense = len(game.paid), _sense(game)
    xi = np.where(game.hidden[:, None], np.nan, game.paid)
    t, none = np.arange(stages), np.zeros((stages, 0))
    series = Series(
        time=tuple(map(str, t)),
        x=np.concatenate([game.own, game.apart], axis=-1),
        x_names=("a", "b", "c", "d"),
        xi=xi,
        xi_names=("now", "policy"),
        arrives=np.minimum(t + 4, stages),  # some are late
        now=none,
        lines=t,
        notes=(),
    )
    met = np.ones(stages) if game.met is None else game.met.astype(float)
    met = np.where(game.hidden, np.nan, met)
    played = {
        name: Played(np.full((stages, 1), float(i)), xi[:, i], met, xi[:, i], t, {}, ())
        for i, name in enumerate((NOW, POLICY))
    }
    found = compared(Priced(sense), series, NOW, played, warm_up=0, scale=None, delta=delta)
    findings = Findings("", "EUR", sense, TARGET, series, 0, NOW, played, found, "", delta=delta)
    view = ReportView(findings, {})
    words = found[POLICY].words(" EUR") if found else ""
    return Printed(unmarked(sentence(view)), words, unmarked(feasibility(view)))


def claims(game: Game, delta: float) -> list[Claim]:
    """All that is claimed of a game by a study, and can be judged."""
    said = printed(game, delta)
    found = [*in_large_sentence(said.large), *in_words(said.words, game.earned)]
    if game.met is not None:
        found += in_band("feasible in a report", said.feasible)
    hidden = game.hidden.any() and not game.at_random
    return [claim for claim in found if claim.whatever or not hidden]


def certified(game: Game, delta: float) -> tuple[str, list[Certificate]]:
    """What a monitor says of the decisions taken, and of the policy in their shadow."""
    assert game.met is not None
    monitor, states = Monitor(Priced(_sense(game)), shadows=[POLICY], delta=delta), None
    rows = zip(game.paid, game.own, game.apart, game.met, game.hidden, strict=True)
    late = np.array(False)  # as an agent says of stages after one whose outcome never came
    for (own, other), (low, high), apart, feasible, hidden in rows:
        late = late | hidden
        if not hidden:
            shadows = (Shadow(other, *apart),)
            evidence = Evidence(own, low, high, feasible=feasible, shadows=shadows, late=late)
            states = monitor.update(states, evidence)
    monitor.restore(states)
    return str(monitor), monitor.certificates()


def monitored(game: Game, delta: float) -> str:
    return certified(game, delta)[0]


def served(game: Game, certificates: list[Certificate], delta: float) -> tuple[str, str]:
    """The page of a stream, as text, and what its address for certificates answers, as JSON.

    Outcomes that are hidden were given up.
    """
    kind = _kind(_sense(game), delta)
    said = [certificate_shown(kind, found) for found in certificates]
    page = stream_page(_seen(game, kind), said, (), 0.0)
    return unmarked(page.replace("</li>", "\n").replace("</p>", "\n")), json.dumps(said)


def on_page(game: Game, certificates: list[Certificate], delta: float) -> list[Claim]:
    """What both claim; of certificates only where no outcome is hidden, which they assume."""
    page, answer = served(game, certificates, delta)
    found = in_band("feasible on a page", page)
    if not game.hidden.any():
        words = "\n".join(each["words"] for each in json.loads(answer))
        for text, where in ((page, "in full on a page"), (words, "by its address")):
            made = in_monitor(text, game.earned)
            found += [claim._replace(kind=f"{claim.kind} {where}") for claim in made]
    return found


def _sense(game: Game) -> Sense:
    return Sense.MAXIMISE if game.earned else Sense.MINIMISE


@cache
def _kind(sense: Sense, delta: float) -> StreamTemplate:
    return template_of("shop", Priced(sense), Constant([0.0]), delta=delta)


def _seen(game: Game, kind: StreamTemplate) -> StreamView:
    """The rows of a log that the page of a stream reads; ten of them are drawn."""
    assert game.met is not None
    came = np.flatnonzero(~game.hidden)
    paid, met = game.paid[came, 0].cumsum(), game.met[came].cumsum()
    tallies = [
        OutcomeTotals(
            "shop",
            n + 1,
            int(at),
            0.0,
            0.0,
            0,
            None,
            n + 1,
            float(paid[n]),
            int(met[n]),
            None,
            "{}",
        )
        for n, at in enumerate(came)
    ]
    drawn = [tallies[n] for n in np.unique(np.linspace(0, len(tallies) - 1, 10).astype(int))]
    nothing: list[OutcomeTotals] = []
    decisions, last = len(game.paid), tallies[-1]
    return StreamView(
        "shop", kind, 0, last, drawn, 10, {}, nothing, [], 0, [], {}, decisions, 0, []
    )  # nothing waits: what is hidden was given up
