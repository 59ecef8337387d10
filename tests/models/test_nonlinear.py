"""What holds for every member with a mean that is no line."""

import numpy as np
import pytest
from nonlinear import error, fitted, sine

from bocopt import Mixture
from bocopt.models.constant import ConstantVariance
from bocopt.models.design import design
from bocopt.models.forest import Forest
from bocopt.models.member import Member
from bocopt.models.smooth import Smooth

MEMBERS: dict[str, Member] = {"Forest": Forest(), "Smooth": Smooth()}
every_member = pytest.mark.parametrize("member", MEMBERS.values(), ids=MEMBERS)


@every_member
def test_a_sine_is_found(member: Member) -> None:
    (x, _, xi), (at, mean, _) = sine(400, 0), sine(500, 1)
    found, line = (fitted(m, design(x, xi, 1.0), at) for m in (member, ConstantVariance()))
    assert error(found.location, mean) < 0.03 * error(line.location, mean)
    assert found.scale.mean() == pytest.approx(0.5, rel=0.2)


@every_member
def test_where_the_mean_is_linear_little_is_lost(member: Member) -> None:
    rng = np.random.default_rng(3)
    x, at = rng.normal(size=(2, 300, 4))
    slopes = rng.normal(size=(4, 2))
    past = design(x, x @ slopes + rng.normal(size=(300, 2)), 1.0)
    found, line = (fitted(m, past, at).location for m in (member, ConstantVariance()))
    assert error(found, at @ slopes) < 1.2 * error(line, at @ slopes)


@every_member
@pytest.mark.parametrize("dim_x", [2, 12])
def test_trials_at_once_are_the_same_as_one_by_one(member: Member, dim_x: int) -> None:
    rng = np.random.default_rng(4)
    x, xi = rng.normal(size=(2, 3, 25, dim_x)), rng.normal(size=(2, 3, 25, 4)).round(1)
    x[1, 2] = 0.0  # trees of one leaf beside larger ones
    xi[0] += np.sin(3 * x[0, ..., :1])
    found = fitted(member, design(x, xi, 0.97), x[..., 3, :])
    for trial in np.ndindex(2, 3):
        alone = fitted(member, design(x[trial], xi[trial], 0.97), x[trial][3])
        assert (alone.location == found.location[trial]).all()
        assert (alone.scale == found.scale[trial]).all()


@every_member
@pytest.mark.parametrize("dim_x", [0, 2, 12, 70])
def test_fits_before_and_after_are_stored_alike(member: Member, dim_x: int) -> None:
    rng = np.random.default_rng(5)
    past = design(rng.normal(size=(20, dim_x)), rng.normal(size=(20, 3)), 1.0)
    before = member.init((), dim_x, 3)
    for old, new in zip(before, member.refit(before, past), strict=True):
        assert old.dtype == new.dtype
        assert old.ndim == new.ndim
        assert np.isfinite(new).all()
        assert new.base is None or new.base.nbytes <= 2 * new.nbytes  # no large room is kept


_RNG = np.random.default_rng(6)
HOSTILE = {
    "one row": (np.ones((1, 2)), np.ones((1, 3))),
    "two rows": (_RNG.normal(size=(2, 2)), _RNG.normal(size=(2, 3))),
    "no contexts": (np.zeros((30, 0)), _RNG.normal(size=(30, 3))),
    "constant contexts": (np.ones((30, 4)), _RNG.normal(size=(30, 3))),
    "one outcome value": (_RNG.normal(size=(30, 4)), np.full((30, 3), 1e6)),
    "duplicated columns": (np.repeat(_RNG.normal(size=(30, 1)), 5, axis=1), np.ones((30, 1))),
    "more contexts than rows": (_RNG.normal(size=(10, 60)), _RNG.normal(size=(10, 3))),
    "very many contexts": (_RNG.normal(size=(30, 120)), _RNG.normal(size=(30, 3))),
    "scales": (1e6 * _RNG.normal(size=(30, 2)), 1e-6 * _RNG.normal(size=(30, 3))),
}


@every_member
@pytest.mark.parametrize("data", HOSTILE)
@pytest.mark.parametrize("discount", [1.0, 0.5, 1e-3])
def test_hostile_data_give_a_sensible_law(member: Member, data: str, discount: float) -> None:
    x, xi = HOSTILE[data]
    found = fitted(member, design(x, xi, discount), x)
    assert (found.scale > 0).all()
    assert (found.scale < 10 * (np.abs(xi).max() + np.ptp(xi))).all()
    assert (np.abs(found.location) <= 3 * np.abs(xi).max()).all()


def test_the_mixture_trusts_them_where_the_mean_is_a_sine() -> None:
    x, _, xi = sine(150, 7)
    mixture = Mixture(dim_xi=3, members=[ConstantVariance(), *MEMBERS.values()], discounts=[1.0])
    state = mixture.init(np.array(0))
    for t in range(len(x)):
        state = mixture.step(state, t, x[t], xi[t])
    assert not state.info.failed.any()
    assert np.exp(state.log_w)[1:].sum() > 0.9
