"""What a report says of all series together is read as it is printed, and seldom untrue."""

import numpy as np
import pytest
from panel_claims import PANELS, Draw, half_of_them_better
from panel_sums import HIDDEN, YEAR, Hide, by_chance, claims, is_untrue, played, untrue_kinds
from scipy.stats import binom


@pytest.mark.parametrize("hide", HIDDEN, ids=lambda hide: hide.__name__)
def test_every_kind_of_sentence_is_read_and_could_be_wrong(hide: Hide) -> None:
    rng = np.random.default_rng(0)
    lucky, chances = half_of_them_better(rng)
    hidden = hide(rng, lucky[:40])
    hidden[0] = False
    found = claims(played(lucky[:40], hidden, 0.05))
    whole = {"whatever is missing"} if hidden.any() else {"amount"}
    assert {claim.kind for claim in found} >= {*whole, YEAR, "amounts in words"}
    each = 2.0 * chances - 1.0
    for claim in found:
        if claim.kind in {*whole, YEAR, "amounts in words"}:
            assert not is_untrue(claim, each, hidden)
            assert is_untrue(claim, each + 30.0, hidden)
            assert is_untrue(claim, each - 30.0, hidden)


@pytest.mark.parametrize("draw", PANELS, ids=lambda draw: draw.__name__)
def test_sums_are_seldom_told_wrongly(draw: Draw) -> None:
    runs = [untrue_kinds(draw, by_chance, 0.2, seed) for seed in range(3)]
    for kind in {kind for run in runs for kind in run}:
        made = [run[kind] for run in runs if kind in run]
        assert sum(made) <= binom.ppf(0.999, len(made), 0.2), kind
