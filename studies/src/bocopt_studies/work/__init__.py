"""The engine of studies: tasks, a store for what is finished, and processes to run them."""
