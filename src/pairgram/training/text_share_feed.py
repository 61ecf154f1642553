"""The share of every batch that one of several workers trains on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.text.encoders import Batch, Texts, to_device
from pairgram.training.group import Group
from pairgram.training.text_batches import PairGroups
from pairgram.training.text_feed import Feed, Step, TextSettings, TextTask, _part, _under
from pairgram.training.text_net import Contrast, TextNet
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
        task, settings = self._task, self._settings
        whole = self._centres(turn)
        low, high = (len(whole) * r // self._group.size for r in self._span)
        centres, lengths = whole[low:high], task.words.lengths[whole]
        random = np.random.Generator(np.random.Philox([settings.seed, turn, 2]))
        dropped = random.random(int(lengths.sum()), np.float32) < settings.word_dropout
        keep_id = random.random(len(whole), np.float32) >= settings.id_dropout
        first = int(lengths[:low].sum())
        own = dropped[first : first + int(lengths[low:high].sum())]
        words = task.words.take(centres)
        if low == high:  # an encoder needs some text, which goes nowhere
            words, own = task.words.take(whole[:1]), dropped[: int(lengths[0])]
        plan = self._net.encoder.plan(Texts(words, task.spelling, own))
        arrays: Arrays = {
            "nodes": centres,
            "keep_id": keep_id[low:high].astype(np.float32),
            "pairs": task.groups.pairs[centres].astype(np.float32),
            "back_pairs": task.back.pairs[centres].astype(np.float32),
            **_under("text", plan.arrays),
            **_under("ahead", self._own_contrast(whole, low, high, task.groups, random)),
        }
        if self._net.head is not None:
            arrays |= _under("back", self._own_contrast(whole, low, high, task.back, random))
        there = to_device(arrays, self._device)
        back = _part("back", there)
        return Step(
            Batch(_part("text", there), to_device(plan.sizes, "cpu")),
            there["nodes"],
            there["keep_id"],
            there["pairs"],
            Contrast(**_part("ahead", there)),
            there["back_pairs"],
            Contrast(**back) if back else None,
            int(task.groups.pairs[whole].sum()),
            {},
        )

    def texts(self, turn: int) -> int:
        """Texts of the whole batch of a turn."""
        return len(self._centres(turn))

    @property
    def _span(self) -> tuple[int, int]:
        return self._group.rank, self._group.rank + 1

    def _own_contrast(
        self,
        whole: NDArray[np.int64],
        low: int,
        high: int,
        groups: PairGroups,
        random: np.random.Generator,
    ) -> Arrays:
        if self._settings.shared_negatives:
            return self._contrast(whole[low:high], groups, random)
        # Noise of a pair is drawn pair after pair, through the batch.
        found = self._contrast(whole, groups, random)
        own = (found["row"] >= low) & (found["row"] < high)
        cut = {name: array[own] for name, array in found.items()}
        return {**cut, "row": cut["row"] - low}
