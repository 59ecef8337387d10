"""The exact posterior: how samplers find it, and what it brings."""
