"""The default learner beside its members and simple methods."""
