"""From a table of past contexts and outcomes to decisions, and to a report of how good they are."""
