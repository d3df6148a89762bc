"""What `init` writes before a person has said anything."""

from __future__ import annotations

GOALS = """---
status: draft
---

# Goals

Say in plain words what should be true when this run is done.

## What we want

-

## Why we care

-

## What we know so far

-

## Limits we must keep

-
"""
