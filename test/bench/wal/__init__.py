"""Logs under comparison."""
