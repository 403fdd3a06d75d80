"""Tiers under comparison."""
