"""Machine code of the smaller problem classes: it imports nothing that its digest leaves out."""
