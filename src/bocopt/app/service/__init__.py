"""A decision service: many live streams, one log, and nothing learned twice or lost."""
