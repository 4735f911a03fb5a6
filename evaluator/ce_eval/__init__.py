"""The evaluator: plan, build, run and grade solutions."""
