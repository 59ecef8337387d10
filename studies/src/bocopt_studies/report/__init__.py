"""Reports of results, for the terminal and for files."""
