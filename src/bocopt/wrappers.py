"""Abilities: how they are asked, and how a wrapper gives them on by what it declares.

    inner      the part that it stands for: it gives on all abilities that it has not itself
    inside     where its state and memo hold those of the inner part, if they are not the same
    parts      all parts that play at each stage, if they are others than the inner one
    withholds  abilities that it does not give on, each with the reason

So a wrapper of a policy that is frozen on Mondays is

    @property
    def inner(self):
        return self.policy

and nothing else, whatever the policy is able to do. A promise (`lockstep`, `takes_missing`) that a
part does not make itself holds where all its parts make it. What stands beside a method (say
`sample_at` beside `sample`) is not given on by a wrapper with such a method, which may differ.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import isfunction
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol

from bocopt.abilities import (
    ABILITIES,
    OWN,
    PROMISES,
    HasShadows,
    SamplesAt,
    UnderScenarios,
)
from bocopt.core import Array, Model, Policy

_NONE: Mapping[type, str] = MappingProxyType({})


class Wrapper(Protocol):
    """A part that stands for another one."""

    @property
    def inner(self) -> Any:
        """The part that it stands for."""
        ...


class Nested(Protocol):
    """A wrapper whose state holds that of the inner part, or whose memo does."""

    def inside(self, state: Any, memo: Any) -> tuple[Any, Any]:
        """The state and the memo of the inner part; where no decision was taken, () is the memo."""
        ...


class Composed(Protocol):
    """A part that is made of several."""

    @property
    def parts(self) -> Sequence[Any]:
        """The parts that play at each stage."""
        ...


class Withholding(Protocol):
    """A wrapper that does not give all on."""

    @property
    def withholds(self) -> Mapping[type, str]:
        """Abilities that it does not give on, each with the reason."""
        ...


class Found(NamedTuple):
    """The part that has an ability, its own state, and its own memo of the decision."""

    part: Any
    state: Any
    memo: Any


@cache
def members(protocol: type) -> Mapping[str, bool]:
    """The names that a protocol asks for, and whether each is a method; none of other classes.

    >>> dict(members(UnderScenarios)), dict(members(int))
    ({'scenarios': True}, {})
    """
    if Protocol not in protocol.__bases__:
        return MappingProxyType({})
    return MappingProxyType(
        {
            name: isfunction(member)
            for base in reversed(protocol.__mro__)
            if base not in (Protocol, Generic, object)
            for name, member in vars(base).items()
            if name == "__call__" or not name.startswith("_")
        }
    )


def has(part: object, ability: type) -> bool:
    """Return whether a part itself has an ability: its methods, and values that are not None.

    >>> from bocopt.abilities import Lockstep
    >>> from bocopt.policies import Constant, Frozen
    >>> has(Constant([1]), Lockstep), has(Frozen(Constant([1])), Lockstep)
    (True, False)
    """
    if isinstance(part, type):
        return False
    for name, is_method in members(ability).items():
        found = getattr(part, name, None)
        if found is None or (is_method and not callable(found)):
            return False
    return True


def find(part: object, ability: type, state: Any = None, memo: Any = ()) -> Found | None:
    """The first part that has an ability, from this one inwards; None where nobody gives it on.

    With the state of this part, and its memo of a decision, there are those of the part found.
    """
    here: Any = part
    while not has(here, ability):
        if not has(here, Wrapper) or ability in withheld(here) or _must_be_own(here, ability):
            return None
        if state is not None and has(here, Nested):
            state, memo = here.inside(state, memo)
        here = here.inner
    return Found(here, state, memo)


def says(part: object, ability: type) -> Any:
    """The value of an ability that is one value; None where nobody has it.

    >>> from bocopt.abilities import HasLaws
    >>> from bocopt.models import ConstantVariance, Mixture, Remembering
    >>> own = Mixture(dim_xi=1, members=[ConstantVariance()], discounts=[1], tails=[60])
    >>> says(Remembering(own, lags=[1]), HasLaws)
    ['ConstantVariance', 'ConstantVariance, logarithmic']
    """
    (name,) = members(ability)
    found = find(part, ability)
    return None if found is None else getattr(found.part, name)


def promises(part: object, promise: type) -> bool:
    """Return whether a part makes a promise: itself, or as all its parts do.

    >>> from bocopt.abilities import Lockstep
    >>> from bocopt.policies import Constant, Frozen
    >>> promises(Frozen(Constant([1])), Lockstep)
    True
    """
    if has(part, promise):
        return bool(says(part, promise))
    if promise in withheld(part):
        return False
    made_of = parts_of(part)
    return bool(made_of) and all(promises(each, promise) for each in made_of)


def parts_of(part: object) -> tuple[Any, ...]:
    """Return the parts that it declares to be made of; empty where it declares none."""
    here: Any = part
    if has(here, Composed):
        return tuple(here.parts)
    return (here.inner,) if has(here, Wrapper) else ()


def _must_be_own(part: object, ability: type) -> bool:
    return ability in OWN and hasattr(part, OWN[ability])


def withheld(part: object) -> Mapping[type, str]:
    """Return the abilities that a wrapper does not give on, each with the reason."""
    here: Any = part
    found: Mapping[type, str] = here.withholds if has(here, Withholding) else _NONE
    return found


def forgotten(wrapper: object, inner: object) -> list[str]:
    """Return the abilities of the inner part that the wrapper neither has, gives on nor withholds.

    >>> from bocopt.policies import Constant, Frozen
    >>> forgotten(Frozen(Constant([1])), Constant([1])), forgotten(object(), Constant([1]))
    ([], ['lockstep'])
    """
    return [
        name
        for abilities in ABILITIES.values()
        for ability in abilities
        if _is_able(inner, ability) and not _is_accounted_for(wrapper, ability)
        for name in vars(ability)
        if name in members(ability)
    ]


def _is_able(part: object, ability: type) -> bool:
    return promises(part, ability) if ability in PROMISES else find(part, ability) is not None


def _is_accounted_for(wrapper: object, ability: type) -> bool:
    if has(wrapper, ability) or ability in withheld(wrapper):
        return True
    if ability in PROMISES:
        return bool(parts_of(wrapper))
    beside = ability in OWN and not _must_be_own(wrapper, ability)
    return beside or find(wrapper, ability) is not None


def scenarios_of(policy: Policy[Any], state: Any, t: int, x: Array) -> tuple[Array, Array] | None:
    """The scenarios (s, m) under which a policy decides, with their weights (s), if it has any."""
    found = find(policy, UnderScenarios, state)
    if found is None:
        return None
    scenarios: tuple[Array, Array] | None = found.part.scenarios(found.state, t, x)
    return scenarios


def shadows_of(policy: Policy[Any]) -> Mapping[str, Policy[Any]]:
    """The policies that are compared with the one that decides, by name."""
    found = find(policy, HasShadows)
    return {} if found is None else found.part.shadows


def sample_at(model: Model[Any], state: Any, t: Any, x: Array) -> tuple[Array, Array]:
    """A model's scenarios (s, m) and their weights (s), at stage t where it counts stages."""
    here: Any = model
    sampled: tuple[Array, Array]
    sampled = here.sample_at(state, t, x) if has(here, SamplesAt) else here.sample(state, x)
    return sampled
