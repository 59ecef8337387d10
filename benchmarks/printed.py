"""Sentences as users read them, made of a game by the code that makes them for users."""

from typing import NamedTuple

import numpy as np
from claims import Claim, in_large_sentence, in_words
from games import Game, Priced

from bocopt.app.features.series import Series
from bocopt.app.findings import Findings, Played
from bocopt.app.page.headline import sentence
from bocopt.app.page.markup import unmarked
from bocopt.app.page.view import View
from bocopt.app.playing.verdict import compared
from bocopt.core import Sense
from bocopt.guarantees import Evidence, Monitor
from bocopt.guarantees.certificate import Shadow

NOW, POLICY = "now", "policy"


class Printed(NamedTuple):
    large: str  # the first sentence of the report of a study
    words: str  # of the comparison, on the terminal


def printed(game: Game, delta: float) -> Printed:
    """What a study says."""
    stages, sense = len(game.paid), Sense.MAXIMISE if game.earned else Sense.MINIMISE
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
    one = np.ones(stages)
    played = {
        name: Played(np.full((stages, 1), float(i)), xi[:, i], one, xi[:, i], t, {}, ())
        for i, name in enumerate((NOW, POLICY))
    }
    found = compared(Priced(sense), series, NOW, played, warm_up=0, scale=None, delta=delta)
    findings = Findings("", "EUR", sense, None, series, 0, NOW, played, found, "")
    large = unmarked(sentence(View(findings, {})))
    return Printed(large, found[POLICY].words(" EUR") if found else "")


def claims(game: Game, delta: float) -> list[Claim]:
    """All that is claimed of a game, and can be judged."""
    said = printed(game, delta)
    found = [*in_large_sentence(said.large), *in_words(said.words, game.earned)]
    hidden = game.hidden.any() and not game.at_random
    return [claim for claim in found if claim.whatever or not hidden]


def monitored(game: Game, delta: float, rng: np.random.Generator) -> str:
    """What a monitor says of the decisions taken, and of the policy in their shadow."""
    sense = Sense.MAXIMISE if game.earned else Sense.MINIMISE
    monitor, states = Monitor(Priced(sense), shadows=[POLICY], delta=delta), None
    for (own, other), (low, high), apart, feasible in zip(
        game.paid, game.own, game.apart, rng.random(len(game.paid)) < game.feasible, strict=True
    ):
        shadow = Shadow(other, *apart)
        evidence = Evidence(own, low, high, feasible=feasible, shadows=(shadow,))
        states = monitor.after(states, evidence)
    monitor.restore(states)
    return str(monitor)
