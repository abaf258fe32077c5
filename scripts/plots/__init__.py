"""Figures from attnprof CSV files."""
