"""The parts of `panel_speed.py`: each yields what it found, again and again where it takes long."""
