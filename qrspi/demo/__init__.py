"""A whole run with scripted agents, for people who want to see one before they start one.

The commands are the real ones, called in this process; only the agents' and the person's parts
come from a script (`data/demo`). Nothing of the engine is stood in for.
"""
