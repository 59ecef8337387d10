"""Before any test: which instructions of the processor are used; a browser for those who ask."""

from instructions import use_the_same_everywhere

use_the_same_everywhere()

pytest_plugins = ["browsers"]
