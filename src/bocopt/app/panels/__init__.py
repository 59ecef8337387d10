"""A case of many series: each is played by itself, and all are judged together."""
