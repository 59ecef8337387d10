"""From one node to many: what is measured, and the simulation that it feeds."""
