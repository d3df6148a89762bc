"""Kills at random moments, by the hundred or by the ten thousand.

    python -m tests.faults.campaign

QRSPI_KILLS says how many (300), QRSPI_SEED which (a new one each time; it is printed), QRSPI_PARTS
in what (all: rounds page gates import deliveries). Runs are driven through their rounds and through
their tasks, by commands and by the page; gates judge tasks, foreign runs are imported. The commands
are real processes that are killed while they work, alone or with the git they started; agents'
files are written in between. After each kill everything must hold that a reader relies on, and
after a few the command is let through and must finish.
"""
