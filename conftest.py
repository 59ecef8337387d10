"""Before any test: which instructions of the processor are used."""

from instructions import use_the_same_everywhere

use_the_same_everywhere()
