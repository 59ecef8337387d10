"""A stream in a few kilobytes: robust regressions in closed form, a histogram, a gate for zeros.

Everything that is known of one component of a stream is one flat array, so that a step for a
hundred thousand streams is one call. Numbers of the regressions stand side by side, entry by entry:
a loop over the regressions is innermost, and is vectorised.
"""
