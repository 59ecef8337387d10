"""The README's example runs and prints what the README says."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_example_prints_what_the_readme_shows() -> None:
    text = README.read_text()
    example = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", text, re.DOTALL)
    assert example is not None
    code, shown = example.groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == shown
