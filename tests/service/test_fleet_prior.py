"""What the streams of a service share, from its log, as the start of a new kind."""

from pathlib import Path

import numpy as np
from shop import engine, one
from typed import CONFIG, SHOP, bocopt

from bocopt import Ensemble
from bocopt.app.service.commands import Create, Decide, Observe
from bocopt.app.service.config import load_config
from bocopt.app.service.stores import open_store
from bocopt.models import Informed, SharedPrior

INFORMED = """
def informed(problem):
    from pathlib import Path
    from bocopt.policies import informed_ensemble

    return informed_ensemble(problem, Path(__file__).parent / "fleet.prior")
"""
NEW = """
[cases.new]
problem = "shop:problem"
policies = ["informed"]
"""


def test_new_streams_start_where_the_others_are(folder: Path) -> None:
    path, out = folder / "bocopt.toml", folder / "fleet.prior"
    config = load_config(path)
    store = open_store(config.store, folder)
    ours, rng = engine(store, *config.templates.values()), np.random.default_rng(0)
    seen = []
    for name in ("north", "south", "west"):
        one(ours, Create(name, "shop"))
        level, rows = rng.uniform(0.8, 1.2), []
        for i in range(8):
            x, xi = rng.normal(size=1), level + rng.uniform(-0.1, 0.1, 2)
            one(ours, Decide(name, x.tolist()))
            one(ours, Observe(name, i, xi.tolist()))
            rows.append((x, xi))
        seen.append(tuple(map(np.array, zip(*rows, strict=True))))
    store.close()
    code, said = bocopt("prior", str(out), "--config", str(path))
    assert (code, said) == (0, f"Wrote what 3 streams with 24 outcomes share to {out}.\n")
    assert SharedPrior.load(out).fingerprint == SharedPrior.of(seen).fingerprint
    (folder / "shop.py").write_text(SHOP + INFORMED)
    path.write_text(CONFIG + NEW)
    kind = load_config(path).templates["new"]
    assert isinstance(kind.fold.policy, Ensemble)
    assert isinstance(kind.fold.policy.model, Informed)
    assert kind.fold.policy.model.prior.fingerprint == SharedPrior.of(seen).fingerprint


def test_too_few_streams_or_an_unknown_kind_are_told(folder: Path) -> None:
    path, out = str(folder / "bocopt.toml"), folder / "fleet.prior"
    open_store("sqlite:///bocopt.db", folder).close()
    code, said = bocopt("prior", str(out), "--config", path)
    assert (code, out.exists()) == (1, False)
    assert "Two streams like 'shop' with 2 outcomes or more are needed" in said
    code, said = bocopt("prior", str(out), "--case", "shap", "--config", path)
    assert code == 1
    assert "--case must be one of shop" in said
