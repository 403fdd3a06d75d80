"""Caches under comparison."""
