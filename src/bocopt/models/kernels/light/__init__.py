"""A stream in a few kilobytes: robust regressions in closed form, a histogram, a gate for zeros.

Everything that is known of one component of a stream is one flat array, so that a step for a
hundred thousand streams is one call. Numbers of the regressions stand side by side, entry by entry:
a loop over the regressions is innermost, and is vectorised.

One definition serves processors and graphics processors: every `inlined` function here works on
single numbers of arrays that it is given, of any type and stride. It makes no array (what lies
between is kept in a `Room`), takes no slice, fills none at once and calls nothing of numpy; tables
of constants are arrays of the module. Only `gufunc` functions, which are for processors, make room.
"""
