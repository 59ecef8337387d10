"""A nightly batch of 10^7 series, simulated with what one night took: a table of docs/scale.md.

python benchmarks/panel_nightly.py      after `panel_speed.py --part nights`, at once
"""

import json

from results_file import RESULTS
from scale.nightly import table
from scale.page import PAGE, put


def main() -> None:
    inputs = json.loads((RESULTS / "panel_speed.json").read_text())
    PAGE.write_text(put(PAGE.read_text("utf-8"), "nightly", table(inputs)), "utf-8")


if __name__ == "__main__":
    main()
