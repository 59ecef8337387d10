"""Machine code of members."""
