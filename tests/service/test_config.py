"""bocopt.toml: what it may say, and errors that name the file, the line and the key."""

import re
from pathlib import Path

import pytest

from bocopt import Ensemble
from bocopt.app.service.access import Access
from bocopt.app.service.config import Config, load_config
from bocopt.policies import Shadowed
from bocopt.policies.names import names_of

SHOP = """\
from bocopt import SampleAverage
from bocopt.problems import Knapsack

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
confidence = 0.8
token = "token.txt"
queue = 50

[cases.shop]
problem = "shop:problem"
policies = ["policy", "window"]
version = "7"
expire = 3600
cost_scale = 160
seed = 4
context = 3
max_open = 20
snapshot = 30
names = ["left", "right"]
hindsight = false
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
    kind = config.templates["shop"]
    assert (config.store, config.port, config.queue) == ("sqlite:///log.db", 0, 50)
    assert config.confidence == 0.8
    assert config.access == Access.of("0123456789abcdef")
    assert "0123456789abcdef" not in repr(config)
    assert config.folder == tmp_path
    assert (kind.version, kind.seed, kind.names) == ("7", 4, ("left", "right"))
    assert kind.limits.context == 3
    assert (kind.limits.max_open, kind.limits.expire, kind.limits.snapshot) == (20, 3600.0, 30)
    assert isinstance(kind.fold.policy, Shadowed)
    assert kind.fold.policy.shadows.keys() == {"window"}
    assert not kind.fold.hindsight


def test_a_problem_is_enough(tmp_path: Path) -> None:
    config = loaded(tmp_path, '[cases.shop]\nproblem = "shop:problem"\n')
    policy = config.templates["shop"].fold.policy
    assert isinstance(policy, Shadowed)
    assert (type(policy.policy), *policy.shadows) == (Ensemble, "SampleAverage")
    assert config.templates["shop"].names == ("z0", "z1")
    assert (config.host, config.access) == ("127.0.0.1", Access())
    assert config.confidence == 0.95


PROGRAM = """\
from bocopt import integer, minimise, pos, program


@program(xi=2, order=integer(2, upper=9), more=integer(upper=3))
def problem(xi, order, more):
    return minimise(order.sum() + more + 3 * pos(xi - order).sum())
"""


def test_names_of_a_declared_program(tmp_path: Path) -> None:
    config = loaded(tmp_path, '[cases.shop]\nproblem = "shop:problem"\n', PROGRAM)
    kind = config.templates["shop"]
    assert kind.names == ("order[0]", "order[1]", "more")
    assert tuple(names_of(kind.problem, kind.fold.policy)["z"]) == kind.names  # as in a report


def test_numbers_of_contexts_and_outcomes_may_have_names(tmp_path: Path) -> None:
    named = '[cases.shop]\nproblem = "shop:problem"\ncontext = ["rain", "day"]\n'
    kind = loaded(tmp_path, named + 'outcome = ["north", "south"]\n', SHOP).templates["shop"]
    assert (kind.contexts, kind.outcomes) == (("rain", "day"), ("north", "south"))
    assert kind.limits.context == 2
    for line in ('outcome = ["north"]', 'outcome = ["north", "north"]', "context = [1]"):
        said = '[cases.shop]\nproblem = "shop:problem"\n' + line
        with pytest.raises(ValueError, match=f"'{line.partition(' ')[0]}' must be"):
            loaded(tmp_path, said, SHOP)


def test_one_line_promotes_a_shadow(tmp_path: Path) -> None:
    before = loaded(tmp_path, FULL).templates["shop"]
    after = loaded(tmp_path, FULL.replace("seed = 4", 'seed = 4\npromote = "window"')).templates[
        "shop"
    ]
    assert before.fingerprint == after.fingerprint
    assert before.fold.by != after.fold.by
    assert isinstance(after.fold.policy, Shadowed)
    assert after.fold.policy.shadows.keys() == {"before"}
    assert getattr(after.fold.policy.policy, "latest", None) == 10


def test_the_same_files_give_the_same_fingerprint_and_a_change_another(tmp_path: Path) -> None:
    one, again = (loaded(tmp_path, FULL).templates["shop"] for _ in range(2))
    assert (one.fingerprint, one.fold.by) == (again.fingerprint, again.fold.by)
    other = loaded(tmp_path, FULL, SHOP.replace("[12, 9]", "[12, 10]")).templates["shop"]
    assert other.fingerprint != one.fingerprint
    longer = loaded(tmp_path, FULL, SHOP.replace("latest=10", "latest=11")).templates["shop"]
    assert longer.fingerprint == one.fingerprint  # a shadow's
    assert longer.fold.by != one.fold.by


WRONG = {
    "service = 3": "'service' must be a part: write [service] above its keys.",
    '[cases.shop]\nproblm = "shop:problem"': (
        "line 2: [cases.shop] has no key 'problm'. Did you mean 'problem'?"
    ),
    "[service]\nconfidence = 95\n[cases.shop]\nproblem = 'shop:problem'": (
        "line 2: 'confidence' must be a number in (0, 1). Got 95 instead."
    ),
    "[service]\nport = 99999\n[cases.shop]\nproblem = 'shop:problem'": (
        "line 2: 'port' must be an integer in [0, 65535]. Got 99999 instead."
    ),
    "[cases.shop]\nversion = '1'": "[cases.shop] does not say 'problem'.",
    "[cases.shop]\nproblem = 'shop'": (
        "line 2: 'problem': must be like 'shop:problem', for `problem` in shop.py. "
        "Got 'shop' instead."
    ),
    "[cases.shop]\nproblem = 'mart:problem'": "mart.py is not there.",
    "[cases.shop]\nproblem = 'shop:trouble'": "shop.py has no 'trouble'.",
    "[cases.shop]\nproblem = 'shop:word'": ("shop.py: 'word' must be a Problem (it needs"),
    "[cases.shop]\nproblem = 'shop:problem'\npolicies = ['broken']": (
        "line 3: 'policies': broken(problem) failed: ZeroDivisionError('division by zero')."
    ),
    "[cases.shop]\nproblem = 'shop:problem'\nseed = -1": "line 3: 'seed' must be an integer in",
    "[cases.shop]\nproblem = 'shop:problem'\nexpire = 'soon'": (
        "line 3: 'expire' must be a number in (0, inf). Got 'soon' instead."
    ),
    "[cases.shop]\nproblem = 'shop:problem'\npolicies = ['policy']\npromote = 'window'": (
        "line 4: 'promote' must be one of the policies after the first (there is none). "
        "Got 'window' instead."
    ),
    "[cases.shop]\nproblem = 'shop:problem'\nnames = ['a']": (
        "line 3: 'names' must be 2 different names, one for each number. Got ['a'] instead."
    ),
    "[cases.shop]\nproblem = 'shop:problem'\nhindsight = 1": (
        "line 3: 'hindsight' must be true or false. Got 1 instead."
    ),
    "[cases.'a/b']\nproblem = 'shop:problem'": "a case must be called by letters, digits",
    "[cases.shop\n": "is not TOML",
    "": "there is no case: write [cases.NAME] above its keys.",
    "[service]\nhost = '0.0.0.0'\n[cases.shop]\nproblem = 'shop:problem'": (
        "line 2: 'host' 0.0.0.0 can be reached from other machines, so 'token' must name a file"
    ),
    "[service]\ntoken = 'none.txt'\n[cases.shop]\nproblem = 'shop:problem'": (
        "line 2: 'token' names a file that cannot be read"
    ),
    "[service]\ntoken = 'shop.py'\n[cases.shop]\nproblem = 'shop:problem'": (
        "line 2: 'token' must name a file with 16 or more ASCII characters."
    ),
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_errors_name_the_file_the_line_and_the_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / "bocopt.toml"))) as told:
        loaded(tmp_path, text)
    assert WRONG[text] in str(told.value)


def test_errors_of_the_python_file_name_its_line(tmp_path: Path) -> None:
    text = "[cases.shop]\nproblem = 'shop:problem'"
    with pytest.raises(ValueError, match=r"shop.py, line 3: "):
        loaded(tmp_path, text, "x = 1\n\nproblem = (\n")
    with pytest.raises(ValueError, match=r"shop.py, line 2: KeyError: 'a'"):
        loaded(tmp_path, text, "x = {}\nx['a']\n")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        load_config(tmp_path / "bocopt.toml")


def test_files_beside_it_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "helper_of_the_shop.py").write_text("UPPER = 8\n")
    python = SHOP.replace("upper=8", "upper=UPPER").replace(
        "\nproblem", "from helper_of_the_shop import UPPER\n\nproblem", 1
    )
    config = loaded(tmp_path, "[cases.shop]\nproblem = 'shop:problem'", python)
    assert config.templates["shop"].problem.dims.z == 2
