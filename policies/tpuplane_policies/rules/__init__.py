"""The rules, one module for each group. What is to say about a rule stands in `data/`."""
