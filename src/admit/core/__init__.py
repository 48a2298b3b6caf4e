"""The pure centre: vocabularies, records, ladders, roll-up, decisions, exact verification."""
