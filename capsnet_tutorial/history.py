"""What a training did, epoch by epoch."""

from typing import NamedTuple


class Epoch(NamedTuple):
    """What one epoch of `fit` did; losses are means over all its images."""

    epoch: int
    loss: float
    margin_loss: float
    reconstruction_loss: float
    accuracy: float
    validation_accuracy: float | None
    validation_loss: float | None

    def __str__(self) -> str:
        text = f"epoch {self.epoch}: loss {self.loss:.4f}, accuracy {self.accuracy:.2%}"
        if self.validation_accuracy is None:
            return text
        return f"{text}, validation accuracy {self.validation_accuracy:.2%}"


class History(list[Epoch]):
    """The epochs of a training, in order.

    >>> history = History([Epoch(1, 0.5, 0.4, 200.0, 0.8, None, None)])
    >>> history.losses, history.accuracies, history.validation_accuracies
    ([0.5], [0.8], [None])
    """

    @property
    def losses(self) -> list[float]:
        """The mean training loss of each epoch."""
        return [epoch.loss for epoch in self]

    @property
    def accuracies(self) -> list[float]:
        """The share of training images classified correctly, each before the step that used it."""
        return [epoch.accuracy for epoch in self]

    @property
    def validation_losses(self) -> list[float | None]:
        """The loss on the validation digits after each epoch."""
        return [epoch.validation_loss for epoch in self]

    @property
    def validation_accuracies(self) -> list[float | None]:
        """The accuracy on the validation digits after each epoch."""
        return [epoch.validation_accuracy for epoch in self]
