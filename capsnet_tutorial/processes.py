"""Several processes that train one network together: each takes its share of every batch.

They are started by PyTorch's `torchrun` and add up their gradients by its
`DistributedDataParallel`. Here is only what these leave open: who takes which images, and that a
share counts by its size.
"""

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from capsnet_tutorial.data import Digits


class Processes:
    """The processes of this training: those that `join_processes` joined, or this one alone.

    >>> Processes().size, Processes().first
    (1, True)
    """

    def __init__(self):
        joined = distributed.is_available() and distributed.is_initialized()
        self.rank = distributed.get_rank() if joined else 0
        self.size = distributed.get_world_size() if joined else 1
        self.num_digits = 0
        self.share = 1.0

    @property
    def first(self) -> bool:
        """Whether this is the one process that writes and prints."""
        return self.rank == 0

    def check_batches(self, num_digits: int, batch_size: int) -> None:
        """Refuse batches that are too small to give each process an image.

        Args:
            num_digits: digits of an epoch.
            batch_size: digits a step, of all processes together.

        Raises:
            ValueError: if there is one.
        """
        smallest = num_digits % batch_size or batch_size
        if smallest < self.size:
            raise ValueError(
                f"the smallest batch has {smallest} images for {self.size} processes: choose "
                "another batch size"
            )

    def join(self, model: nn.Module) -> nn.Module:
        """Make a network's gradients those of the whole batch.

        Args:
            model: the network, on this process's device.

        Returns:
            What a step calls in the network's place; the network itself where there is one process.
        """
        if self.size == 1:
            return model
        joined = DistributedDataParallel(model)
        joined.register_comm_hook(self, _add_up)
        return joined

    def shares(self, dealt: Iterable[Digits]) -> Iterator[Digits]:
        """Deal out this process's share of each batch, an image more or less than the others'.

        Args:
            dealt: the whole batches, the same ones in each process.

        Yields:
            The share; while its step is taken, `share` says how much of the batch it is.
        """
        self.num_digits = 0
        for batch in dealt:
            share = Digits(*(part.tensor_split(self.size)[self.rank] for part in batch))
            self.share = len(share.labels) / len(batch.labels)
            self.num_digits += len(share.labels)
            yield share

    def leave(self) -> None:
        """Part from the other processes, when nothing is left to do together."""
        if self.size > 1:
            distributed.destroy_process_group()

    def mean(self, means: Sequence[float], device: torch.device) -> list[float]:
        """Average over the images of all processes.

        Args:
            means: means over this process's images, those that `shares` dealt last.
            device: where to add up: the network's.

        Returns:
            Means over all images, the same ones in each process.
        """
        if self.size == 1:
            return list(means)
        sums = torch.tensor([*means, 1.0], dtype=torch.float64, device=device) * self.num_digits
        distributed.all_reduce(sums)
        return (sums[:-1] / sums[-1]).tolist()


def join_processes(device: torch.device) -> Processes:
    """Join the processes that `torchrun` started with this one, if it was `torchrun`.

    Args:
        device: where to compute; where it is `cuda`, each process takes a GPU of its own.

    Returns:
        All processes of the training, with a place for this one among them.

    Raises:
        ValueError: if there are fewer GPUs than processes here.
    """
    if not (distributed.is_available() and distributed.is_torchelastic_launched()):
        return Processes()
    number = int(os.environ["LOCAL_RANK"])
    if device.type == "cuda":
        if number >= torch.cuda.device_count():
            raise ValueError(
                f"{torch.cuda.device_count()} GPUs are too few for {os.environ['LOCAL_WORLD_SIZE']}"
                " processes: start fewer"
            )
        torch.cuda.set_device(number)
    # Said of a gradient with an axis of length 1, whose stride means nothing.
    warnings.filterwarnings("ignore", "Grad strides do not match bucket view strides")
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return Processes()


def _add_up(
    processes: Processes, bucket: distributed.GradBucket
) -> torch.futures.Future[torch.Tensor]:
    """Add up gradients, each weighed by its process's share of the batch."""
    weighed = bucket.buffer().mul_(processes.share)
    summed = distributed.all_reduce(weighed, async_op=True).get_future()
    return summed.then(lambda future: future.value()[0])
