"""States as named arrays, arrays as bytes, and fingerprints of configurations."""

import json
import threading
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from bocopt import Sense, from_callables
from bocopt.core import Array, Dims
from bocopt.fingerprint import fingerprint
from bocopt.state import CheckpointError, flatten, pack, read_only, rebuild, unpack


class One(NamedTuple):
    left: Array
    right: Array


class Reordered(NamedTuple):
    right: Array
    left: Array


def test_a_field_that_moves_is_not_mistaken_for_another() -> None:
    kept = flatten(One(np.zeros(2), np.ones(2)))
    found = rebuild(Reordered(np.empty(0), np.empty(0)), kept)
    assert found.left.tolist() == [0, 0]
    assert found.right.tolist() == [1, 1]


@pytest.mark.parametrize(
    "wrong", [np.zeros(2, np.int64), np.zeros(2, np.float32), np.zeros((2, 1)), np.array("x")]
)
def test_another_type_or_number_of_axes_is_refused(wrong: Any) -> None:
    kept = flatten(One(wrong, np.ones(2)))
    with pytest.raises(CheckpointError, match=r"'state\.left' must be float64 with 1 axes"):
        rebuild(One(np.empty(0), np.empty(0)), kept)


def test_arrays_of_every_kind_come_back_as_they_were() -> None:
    arrays = {
        "numbers": np.array([[1.5, np.nan, -0.0, np.inf]]),
        "none": np.zeros((3, 0)),
        "one": np.array(7),
        "truths": np.array([True, False]),
        "short": np.arange(5, dtype=np.int16)[::2],
        "texts": np.array(["", "a longer one ü"]),
        "swapped": np.arange(6.0).reshape(2, 3).T,
    }
    header, found = unpack(pack({"a": [1, None]}, arrays))
    assert header == {"a": [1, None]}
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
        assert found[name].flags.writeable


def forged(about: Any, numbers: bytes = b"") -> bytes:
    text = json.dumps(about).encode()
    return len(text).to_bytes(8, "little") + text + numbers


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 20,
        forged([]),
        forged({"header": {}}),
        forged({"header": 3, "arrays": []}),
        forged({"header": {}, "arrays": [["a", "<f8", [2]]]}, b"\0" * 15),
        forged({"header": {}, "arrays": [["a", "<f8", [2]]]}, b"\0" * 17),
        forged({"header": {}, "arrays": [["a", "<f8", [10**15]]]}),
        forged({"header": {}, "arrays": [["a", "<f8", [2**40, 2**40]]]}),
        forged({"header": {}, "arrays": [["a", "<f8", [-1]]]}),
        forged({"header": {}, "arrays": [["a", "|O", [1]]]}, b"\0" * 8),
        forged({"header": {}, "arrays": [["a", "f8,i4", [1]]]}, b"\0" * 12),
        forged({"header": {}, "arrays": [["a", "<U0", [10**12]]]}),
        forged({"header": {}, "arrays": [["a", "nonsense", [1]]]}, b"\0" * 8),
        forged({"header": {}, "arrays": [["a", "<f8", "no"]]}),
        forged({"header": {}, "arrays": [["a", "<f8"]]}),
    ],
)
def test_bytes_that_were_never_packed_are_refused(data: bytes) -> None:
    with pytest.raises(CheckpointError):
        unpack(data)


def test_what_is_shown_cannot_be_changed() -> None:
    inner = np.zeros(3)
    shown = read_only(One(inner, np.ones(1)))
    for view in shown:
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0
    inner[0] = 2.0
    assert shown.left[0] == 2.0


def problem(function: Any) -> Any:
    return from_callables(function, lambda x, z, xi: 0.0, dims=Dims(None, 1, 1), fallback=[0])


SCALE = 1.0


def scaled(x: Any, xi: Any) -> Any:
    return SCALE * xi


def test_functions_with_other_code_or_values_have_other_fingerprints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def closing_over(value: Any) -> Any:
        return lambda x, xi: xi + value

    def nested(value: float) -> Any:
        def outer(x: Any, xi: Any) -> Any:
            return (lambda: value), x

        return outer

    functions = [
        lambda x, xi: xi,
        lambda x, xi: xi + 1,
        lambda x, xi: xi + 2,
        lambda x, xi, more=1: xi,
        lambda x, xi, more=2: xi,
        lambda x, xi: xi.min(),
        lambda x, xi: xi.max(),
        closing_over(1.0),
        closing_over(2.0),
        closing_over(np.zeros(2)),
        closing_over(np.ones(2)),
        nested(1.0),
        nested(2.0),
        scaled,
    ]
    digests = [fingerprint(problem(function)) for function in functions]
    assert len(set(digests)) == 14
    assert [fingerprint(problem(function)) for function in functions] == digests
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert fingerprint(problem(scaled)) != digests[13]


def test_a_method_counts_with_its_object() -> None:
    class Solver:
        def __init__(self, size: float) -> None:
            self.size = size

        def solve(self, x: Any, xi: Any) -> Any:
            return xi

    assert fingerprint(Solver(1.0).solve) == fingerprint(Solver(1.0).solve)
    assert fingerprint(Solver(1.0).solve) != fingerprint(Solver(2.0).solve)


def test_private_attributes_partial_arguments_enums_and_sets_count() -> None:
    class Configured:
        def __init__(self, secret: Any) -> None:
            self._secret = secret

    assert fingerprint(Configured({"b", "a"})) == fingerprint(Configured({"a", "b"}))
    pairs: list[tuple[Any, Any]] = [
        (Configured(1), Configured(2)),
        (partial(max, 1), partial(max, 2)),
        (Sense.MINIMISE, Sense.MAXIMISE),
        ({1, 2}, {1, 3}),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.int64)),
    ]
    for one, other in pairs:
        assert fingerprint(one) != fingerprint(other)
    itself = Configured(1)
    itself._secret = itself
    assert fingerprint(itself) == fingerprint(itself)


def test_what_nothing_tells_from_another_is_refused_with_what_to_do() -> None:
    lock = threading.Lock()
    for thing in (lock, [lock], lambda: lock, np.array([lock], object)):
        with pytest.raises(CheckpointError, match=r"cannot be part of a configuration.*dataclass"):
            fingerprint(thing)
