"""Machine code of the models."""
