"""Trainers: from pairs to vectors."""
