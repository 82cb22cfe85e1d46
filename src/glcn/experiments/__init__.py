"""The tables and figures of the paper: recipes, runs, results."""
