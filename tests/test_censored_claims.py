"""Claims of outcomes that were seen in part are true: `benchmarks/censored_claims.py` in small."""

import numpy as np
import pytest
from censored import ADVERSARIES
from censored_claims import HANDLINGS, OURS, SEEN, STAGES, counted, in_part, looks, untrue_kinds
from scipy.stats import binom


@pytest.mark.parametrize("name", ADVERSARIES)
def test_claims_of_what_was_seen_in_part_are_seldom_untrue(name: str) -> None:
    """Where each is untrue with a chance of delta, more than these are with one of .001."""
    for (delta, kind), (made, untrue) in counted(name, OURS, 5).items():
        assert untrue <= binom.ppf(0.999, made, delta) * (kind != SEEN), (delta, kind)


@pytest.mark.parametrize(
    ("handling", "name", "kind"),
    [
        ("left out", "sold out and as much missed as can be", "headline"),
        ("left out", "never seen where the policy won", "comparison in words"),
        ("left out", "shortages are hidden", "feasible"),
        ("sales as demand", "sold out and as much missed as can be", "headline"),
        ("sales as demand", "sold out and as much missed as can be", "comparison in words"),
        ("sales as demand", "shortages are hidden", "feasible"),
    ],
)
def test_who_takes_what_was_seen_for_all_claims_what_is_untrue(
    handling: str, name: str, kind: str
) -> None:
    found = [untrue_kinds(name, HANDLINGS[handling], seed) for seed in range(3)]
    assert all(each[0.05, kind] for each in found)


def test_both_sides_and_both_verdicts_are_claimed() -> None:
    """Or nothing would be shown of them."""
    said = {
        name: list(looks(ADVERSARIES[name](np.random.default_rng(0), STAGES), in_part))[-1].said
        for name in (
            "seldom sold out",
            "a tenth is never seen of those it lost",
            "sold out and as much missed as can be",
            "what was missed costs nothing",
        )
    }
    worse, better, wide, known = said.values()
    assert "worse on average, known since" in worse
    assert "better on average, known since" in better
    assert "(seen: between -42.05 and 1.75)" in wide
    assert "which is better is open" in wide
    assert "is at most -35.58 (seen: -42.05)" in known
