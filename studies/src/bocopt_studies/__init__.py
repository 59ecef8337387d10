"""The paper reproduced, and the experiments beyond it: `bocopt reproduce`."""

__version__ = "0.2.0"
