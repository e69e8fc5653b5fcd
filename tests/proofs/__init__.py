"""Proofs too long for the suite: each is a command, `python -m tests.proofs.<name>`."""
