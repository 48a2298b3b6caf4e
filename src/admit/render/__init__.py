"""Decisions in the forms that people and machines read: text, JSON, Markdown; one file each."""
