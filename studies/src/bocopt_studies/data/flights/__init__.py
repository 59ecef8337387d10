"""Late flights from New York."""
