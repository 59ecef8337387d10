"""A user's Python file is what stands in it now."""

import os
import sys
from pathlib import Path

import pytest

from bocopt.app.user_code import imported


def test_bytecode_of_what_stood_there_before_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python compares whole seconds and lengths, and both may be the same."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path, found = tmp_path / "shop.py", []
    for number in (1, 2):
        path.write_text(f"price = {number}\n")
        os.utime(path, (1e9, 1e9))
        found.append(imported("shop_of_a_test", path).price)
    assert found == [1, 2]
