"""What the site needs beyond Sphinx: executed figures, the public names, pages of source files."""
