"""The last bits of a number depend on the processor: tests have those of x86-64 with AVX2.

numpy and OpenBLAS pick their machine code by the processor that they find. Golden traces and the
numbers on pages would differ from one to the next, so newer instructions are not used in tests.

    python tests/instructions.py SCRIPT    runs a script in the same way
"""

import os
import platform
import runpy
import subprocess
import sys

_NEWER = """
from numpy._core._multiarray_umath import __cpu_baseline__, __cpu_dispatch__, __cpu_features__
known = set(__cpu_dispatch__) - set(__cpu_baseline__) - {"AVX2", "FMA3", "X86_V3"}
print(*sorted(name for name in known if __cpu_features__.get(name)))
"""


def use_the_same_everywhere() -> None:
    """To be called before numpy is imported; what the environment says already stands."""
    assert "numpy" not in sys.modules, "numpy has chosen its instructions already"
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
    if "NPY_DISABLE_CPU_FEATURES" not in os.environ:
        newer = subprocess.run([sys.executable, "-c", _NEWER], capture_output=True, text=True)
        os.environ["NPY_DISABLE_CPU_FEATURES"] = newer.stdout.strip()


if __name__ == "__main__":
    use_the_same_everywhere()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
