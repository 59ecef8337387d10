"""Beyond the paper: other problems than its knapsack."""
