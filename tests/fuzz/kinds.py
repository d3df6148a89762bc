"""Every kind of fuzz, by its name."""

from __future__ import annotations

from tests.fuzz import configs, frontmatters, replies, sequences, tables

KINDS = {
    fuzz.name: fuzz
    for fuzz in (frontmatters.FUZZ, replies.FUZZ, configs.FUZZ, tables.FUZZ, sequences.FUZZ)
}
