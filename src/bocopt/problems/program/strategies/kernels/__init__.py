"""Machine code of the strategies."""
