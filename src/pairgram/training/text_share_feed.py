"""The share of every batch that one of several workers trains on."""

from typing import Any

from pairgram.text.encoders import Plan
from pairgram.training.group import Group
from pairgram.training.text_feed import Feed, Step, TextSettings, TextTask
from pairgram.training.text_net import TextNet
from pairgram.training.text_state import Arrays


class ShareFeed(Feed):
    """Batches as one machine has them, cut into a run of centres for each worker.

    What is random is drawn for the whole batch by every worker, so that the shares together are
    the batch of one machine.

    Parameters
    ----------
    task, settings, net, device
        As in `Feed`.
    group
        The workers.
    """

    def __init__(
        self, task: TextTask, settings: TextSettings, net: TextNet, device: Any, group: Group
    ) -> None:
        super().__init__(task, settings, net, device)
        self._group = group

    def step(self, turn: int) -> Step:
        """Return this worker's share of the step of a turn, of no centres where it has none."""
        centres, group = len(self._centres(turn)), self._group
        low, high = (centres * r // group.size for r in (group.rank, group.rank + 1))
        return self._share(turn, low, high)

    def texts(self, turn: int) -> int:
        """Texts of the whole batch of a turn."""
        return len(self._centres(turn))

    def _touched(self, plan: Plan, arrays: Arrays) -> Arrays:
        """Nothing: rows are borrowed, under other numbers."""
        return {}
