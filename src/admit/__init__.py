"""Decide which patches get in: typed evidence, an ordered ladder kept as data, one disposition, one exit code."""

__all__ = ["__version__"]

__version__ = "0.1.0"
