"""Other libraries are imported by who uses their bridge, and by nobody else."""

import subprocess
import sys

import pytest

from bocopt.extras import needed

LIBRARIES = ("sklearn", "river", "gymnasium", "pyepo", "narwhals", "polars", "pandas", "matplotlib")


def test_the_bridges_alone_import_none() -> None:
    code = "import sys, bocopt.interop; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "bocopt.interop.regressor" in found.stdout.split()
    assert not set(LIBRARIES) & set(found.stdout.split())


def test_one_that_is_missing_is_named_with_its_remedy() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"environment needs gymnasiun: pip install \"b"):
        needed("gymnasiun", "environment", '"bocopt[gym]"')
