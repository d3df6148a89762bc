"""qrspi: the exact half of agentic planning, as a program."""

__version__ = "0.1.0"
