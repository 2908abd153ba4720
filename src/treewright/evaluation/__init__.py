"""Evaluation for Python, command and report: folds, fits on them, scores, and standard errors."""
