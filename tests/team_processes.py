"""A team of processes on this machine, as Ray Train makes one on a cluster."""

import multiprocessing
import pickle
import queue

import torch.distributed as dist

from pairgram.engine import LocalEngine


class ProcessTeam:
    """A worker that wants to end early after some turns."""

    device = "cpu"

    def __init__(self, rank, size, last):
        self.rank, self.size, self._last = rank, size, last

    def tell(self, news):
        return self._last is not None and news[0]["turn"] >= self._last


class ProcessEngine(LocalEngine):
    """Threads of this process, and teams of processes, which end after turn `last` if asked to."""

    shares_memory = False

    def __init__(self, size, folder, last=None):
        super().__init__(1)
        self.size, self._folder, self._last = size, folder, last
        self._teams = 0

    def together(self):
        return self.size

    def train_together(self, work, shared, hear, cards=False):
        context = multiprocessing.get_context("spawn")
        answers = context.Queue()
        self._teams += 1
        store = f"{self._folder}/store-{id(self)}-{self._teams}"
        # As bytes, because processes of torch would share the memory of weights.
        rest = (self.size, store, self._last, pickle.dumps((work, shared)), answers)
        ranks = range(self.size)
        workers = [context.Process(target=take_part, args=(rank, *rest)) for rank in ranks]
        for worker in workers:
            worker.start()
        try:
            found = dict(answers.get(timeout=300) for _ in workers)
        except queue.Empty:
            raise TimeoutError("a worker left no result") from None
        finally:
            for worker in workers:
                worker.join(30)
        for result in found.values():
            if isinstance(result, Exception):
                raise result
        if self._last is not None:
            raise KeyboardInterrupt
        return [found[rank] for rank in range(self.size)]


def take_part(rank, size, store, last, given, answers):
    """What a process does."""
    from pairgram.training import text_share

    text_share.TELL_SECONDS = 0.0
    work, shared = pickle.loads(given)
    try:
        dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=size)
        answers.put((rank, work(ProcessTeam(rank, size, last), *shared)))
    except Exception as error:
        answers.put((rank, error))
    finally:
        dist.destroy_process_group()
