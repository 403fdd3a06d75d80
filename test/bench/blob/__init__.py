"""Placements of values under comparison."""
