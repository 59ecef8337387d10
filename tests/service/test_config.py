"""bocopt.toml: what it may say, and errors that name the file, the line and the key."""

from pathlib import Path

import pytest

from bocopt import Ensemble, Shadowed
from bocopt.app.names import names_of
from bocopt.app.service.config import Config, load_config
from bocopt.app.service.toml_file import ConfigError

SHOP = """\
from bocopt import Knapsack, SampleAverage

problem = Knapsack(value=[12, 9], capacity=[8], salvage=[1], upper=8)
policy = SampleAverage(problem)


def window(problem):
    return SampleAverage(problem, latest=10)


def broken(problem):
    return 1 / 0


word = "problem"
"""
FULL = """\
[service]
store = "sqlite:///log.db"
port = 0
token = "token.txt"
queue = 50

[streams.shop]
problem = "shop:problem"
policy = "shop:policy"
version = "7"
expire = 3600
scale = 160
seed = 4
context = 3
max_open = 20
snapshot = 30
names = ["left", "right"]
hindsight = false

[streams.shop.shadows]
window = "shop:window"
"""


def written(folder: Path, text: str, python: str = SHOP) -> Path:
    (folder / "shop.py").write_text(python)
    (folder / "token.txt").write_text("0123456789abcdef\n")
    (folder / "bocopt.toml").write_text(text)
    return folder / "bocopt.toml"


def loaded(folder: Path, text: str, python: str = SHOP) -> Config:
    return load_config(written(folder, text, python))


def test_what_a_file_says(tmp_path: Path) -> None:
    config = loaded(tmp_path, FULL)
    kind = config.kinds["shop"]
    assert (config.store, config.port, config.queue) == ("sqlite:///log.db", 0, 50)
    assert config.token == "0123456789abcdef"
    assert config.folder == tmp_path
    assert (kind.version, kind.seed, kind.names) == ("7", 4, ("left", "right"))
    assert kind.limits.context == 3
    assert (kind.limits.max_open, kind.limits.expire, kind.limits.snapshot) == (20, 3600.0, 30)
    assert isinstance(kind.fold.policy, Shadowed)
    assert kind.fold.policy.shadows.keys() == {"window"}
    assert not kind.fold.hindsight


def test_a_problem_is_enough(tmp_path: Path) -> None:
    config = loaded(tmp_path, '[streams.shop]\nproblem = "shop:problem"\n')
    assert isinstance(config.kinds["shop"].fold.policy, Ensemble)
    assert config.kinds["shop"].names == ("z0", "z1")
    assert (config.host, config.token) == ("127.0.0.1", None)


PROGRAM = """\
from bocopt import integer, minimise, pos, program


@program(xi=2, order=integer(2, upper=9), more=integer(upper=3))
def problem(xi, order, more):
    return minimise(order.sum() + more + 3 * pos(xi - order).sum())
"""


def test_names_of_a_declared_program(tmp_path: Path) -> None:
    config = loaded(tmp_path, '[streams.shop]\nproblem = "shop:problem"\n', PROGRAM)
    kind = config.kinds["shop"]
    assert kind.names == ("order[0]", "order[1]", "more")
    assert tuple(names_of(kind.problem, kind.fold.policy)["z"]) == kind.names  # as in a report


def test_numbers_of_contexts_and_outcomes_may_have_names(tmp_path: Path) -> None:
    named = '[streams.shop]\nproblem = "shop:problem"\ncontext = ["rain", "day"]\n'
    kind = loaded(tmp_path, named + 'outcome = ["north", "south"]\n', SHOP).kinds["shop"]
    assert (kind.contexts, kind.outcomes) == (("rain", "day"), ("north", "south"))
    assert kind.limits.context == 2
    for line in ('outcome = ["north"]', 'outcome = ["north", "north"]', "context = [1]"):
        said = '[streams.shop]\nproblem = "shop:problem"\n' + line
        with pytest.raises(ConfigError, match=f"'{line.partition(' ')[0]}' must be"):
            loaded(tmp_path, said, SHOP)


def test_one_line_promotes_a_shadow(tmp_path: Path) -> None:
    before = loaded(tmp_path, FULL).kinds["shop"]
    after = loaded(tmp_path, FULL.replace("seed = 4", 'seed = 4\npromote = "window"')).kinds["shop"]
    assert before.fingerprint == after.fingerprint
    assert before.fold.by != after.fold.by
    assert isinstance(after.fold.policy, Shadowed)
    assert after.fold.policy.shadows.keys() == {"before"}
    assert getattr(after.fold.policy.policy, "latest", None) == 10


def test_the_same_files_give_the_same_fingerprint_and_a_change_another(tmp_path: Path) -> None:
    one, again = (loaded(tmp_path, FULL).kinds["shop"] for _ in range(2))
    assert (one.fingerprint, one.fold.by) == (again.fingerprint, again.fold.by)
    other = loaded(tmp_path, FULL, SHOP.replace("[12, 9]", "[12, 10]")).kinds["shop"]
    assert other.fingerprint != one.fingerprint
    longer = loaded(tmp_path, FULL, SHOP.replace("latest=10", "latest=11")).kinds["shop"]
    assert longer.fingerprint == one.fingerprint  # a shadow's
    assert longer.fold.by != one.fold.by


WRONG = {
    "service = 3": "'service' must be a part: write [service] above its keys.",
    '[streams.shop]\nproblm = "shop:problem"': (
        "line 2: [streams.shop] has no key 'problm'. Did you mean 'problem'?"
    ),
    "[service]\nport = 99999\n[streams.shop]\nproblem = 'shop:problem'": (
        "line 2: The 'port' parameter of [service] must be an integer in [0, 65535]. "
        "Got 99999 instead."
    ),
    "[streams.shop]\nversion = '1'": "[streams.shop] does not say 'problem'.",
    "[streams.shop]\nproblem = 'shop'": (
        "line 2: 'problem': must be like 'shop:problem', for shop.py. Got 'shop' instead."
    ),
    "[streams.shop]\nproblem = 'mart:problem'": "mart.py is not there.",
    "[streams.shop]\nproblem = 'shop:trouble'": "shop.py has no 'trouble'.",
    "[streams.shop]\nproblem = 'shop:word'": (
        "line 2: The 'problem' parameter of [streams.shop] must be a Problem"
    ),
    "[streams.shop]\nproblem = 'shop:problem'\npolicy = 'shop:broken'": (
        "line 3: shop:broken(problem) failed: ZeroDivisionError('division by zero')."
    ),
    "[streams.shop]\nproblem = 'shop:problem'\nseed = -1": (
        "line 3: The 'seed' parameter of [streams.shop] must be an integer in"
    ),
    "[streams.shop]\nproblem = 'shop:problem'\nexpire = 'soon'": (
        "line 3: The 'expire' parameter of [streams.shop] must be a number in (0, inf). "
        "Got 'soon' instead."
    ),
    "[streams.shop]\nproblem = 'shop:problem'\npromote = 'window'": (
        "line 3: 'promote' must name a shadow (there is none). Got 'window'."
    ),
    "[streams.shop]\nproblem = 'shop:problem'\nnames = ['a']": (
        "line 3: 'names' must be 2 different names, one for each number of a decision. "
        "Got ['a'] instead."
    ),
    "[streams.shop]\nproblem = 'shop:problem'\nhindsight = 1": (
        "line 3: 'hindsight' must be true or false. Got 1 instead."
    ),
    "[streams.'a/b']\nproblem = 'shop:problem'": "The stream 'a/b' must match",
    "[streams.shop\n": "is not TOML",
    "": "declares no stream",
    "[service]\nhost = '0.0.0.0'\n[streams.shop]\nproblem = 'shop:problem'": (
        "line 2: 'host' 0.0.0.0 can be reached from other machines, so 'token' must name a file"
    ),
    "[service]\ntoken = 'none.txt'\n[streams.shop]\nproblem = 'shop:problem'": (
        "line 2: 'token' names a file that cannot be read"
    ),
    "[service]\ntoken = 'shop.py'\n[streams.shop]\nproblem = 'shop:problem'": (
        "line 2: 'token' must name a file with 16 or more ASCII characters."
    ),
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_errors_name_the_file_the_line_and_the_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as told:
        loaded(tmp_path, text)
    assert str(tmp_path / "bocopt.toml") in str(told.value)
    assert WRONG[text] in str(told.value)


def test_errors_of_the_python_file_name_its_line(tmp_path: Path) -> None:
    text = "[streams.shop]\nproblem = 'shop:problem'"
    with pytest.raises(ConfigError, match=r"shop.py, line 3: "):
        loaded(tmp_path, text, "x = 1\n\nproblem = (\n")
    with pytest.raises(ConfigError, match=r"shop.py, line 2: KeyError: 'a'"):
        loaded(tmp_path, text, "x = {}\nx['a']\n")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_config(tmp_path / "bocopt.toml")


def test_files_beside_it_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "helper_of_the_shop.py").write_text("UPPER = 8\n")
    python = SHOP.replace("upper=8", "upper=UPPER").replace(
        "\nproblem", "from helper_of_the_shop import UPPER\n\nproblem", 1
    )
    config = loaded(tmp_path, "[streams.shop]\nproblem = 'shop:problem'", python)
    assert config.kinds["shop"].problem.dims.z == 2
