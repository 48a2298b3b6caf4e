"""Abstentions: the reviewed file of nodes that by design give no verdict here (contract U7)."""
