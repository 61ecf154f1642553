"""Evaluation: protocols, metrics of a model, floors beside them, the audit and the card."""

from pairgram.evaluation.audit import audit
from pairgram.evaluation.card import Card
from pairgram.evaluation.floors import FLOORS, floor
from pairgram.evaluation.protocols import PROTOCOLS, Trials, draw_trials
from pairgram.evaluation.report import Report, evaluate

__all__ = [
    "FLOORS",
    "PROTOCOLS",
    "Card",
    "Report",
    "Trials",
    "audit",
    "draw_trials",
    "evaluate",
    "floor",
]
