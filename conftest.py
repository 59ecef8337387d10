"""Before any test: which instructions of the processor are used; a browser for those who ask."""

import signal

from instructions import use_the_same_everywhere

use_the_same_everywhere()
# A shell's background has them ignored, by all children too: tests that interrupt would wait on.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["browsers"]
