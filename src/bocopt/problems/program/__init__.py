"""Programs that are declared by one function: the algebra, the arrays, and the ways to solve."""
