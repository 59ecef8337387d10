"""Outcomes of a table that are bounds: a column says so, or a rule of two columns.

A shop that sold out knows that demand was at least what it sold.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bocopt.app.features.spec import Spec
from bocopt.app.reading.columns import Table, all_of
from bocopt.core import Array, BoolArray, Bounds

_RULE = re.compile(r"(.+?)\s*>=\s*(.+)")
_YES, _NO = ("1", "true", "yes", "y"), ("0", "false", "no", "n")


def sides(censored: str) -> tuple[str, ...]:
    """Return the two columns of a rule, or the one column that says so.

    >>> sides("sold >= stock"), sides("sold_out")
    (('sold', 'stock'), ('sold_out',))
    """
    rule = _RULE.fullmatch(censored)
    return (censored,) if rule is None else (rule[1], rule[2])


def columns_of_censored(spec: Spec) -> tuple[str, ...]:
    """Return the columns, each once, that say which outcomes are bounds."""
    return tuple(dict.fromkeys(name for one in spec.censored for name in sides(one)))


def checks(frame: Table, spec: Spec) -> list[Callable[[], Any]]:
    """Return the checks that these columns can be used."""
    return [partial(censored, frame, one) for one in dict.fromkeys(spec.censored)]


def censored(frame: Table, said: str) -> BoolArray:
    """Return whether the outcome of each row is at least the number that stands there.

    By a rule it is where one of its two numbers is missing: nobody knows that all was seen.

    >>> shop = {"sold": np.array([3.0, 5.0]), "stock": np.array([4.0, 5.0]), "out": ["no", "yes"]}
    >>> table = Table("sales.csv", "row", np.arange(2), shop)
    >>> censored(table, "sold >= stock").tolist(), censored(table, "out").tolist()
    ([False, True], [False, True])
    """
    names = sides(said)
    if len(names) == 2:
        left, right = all_of([partial(frame.numbers, name) for name in names])
        return np.asarray(~(left < right))
    texts = [text.strip().casefold() for text in frame.texts(said)]
    frame.refuse(said, np.array([one not in _YES + _NO for one in texts]), "yes or no")
    return np.array([one in _YES for one in texts])


def bounds_of_rows(frame: Table, spec: Spec, recorded: Array) -> Bounds | None:
    """Return what was seen of the outcomes (rows, m) recorded; None where all was, or nothing.

    A number that is missing beside others was not seen. NaN in all of a row that has no outcome.
    """
    gaps = np.isnan(recorded)
    never = gaps.all(axis=1, keepdims=True)
    low, high = np.where(gaps, -np.inf, recorded), np.where(gaps, np.inf, recorded)
    if spec.censored:
        said = [censored(frame, one) for one in spec.censored]
        at_least = np.broadcast_to(np.stack(said, axis=1), recorded.shape)
        high = np.where(at_least, np.inf, high)
    seen = Bounds(np.where(never, np.nan, low), np.where(never, np.nan, high))
    return None if (seen.exact | never).all() else seen
