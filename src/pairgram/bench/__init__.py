"""The bench: tables of measured figures beside the published ones, made from cards on disk."""
