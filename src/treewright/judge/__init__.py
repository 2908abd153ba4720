"""One judge for Python, command and report: folds, fits on them, scores, and how sure a score is."""
