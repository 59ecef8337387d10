"""Work that is sent to other processes, and believed where they run our code."""
