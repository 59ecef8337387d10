"""Five studies on real tables, in the files that a user of `bocopt backtest` would write."""
