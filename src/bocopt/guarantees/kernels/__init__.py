"""What guarantees do at every stage, as machine code."""
