"""What a step is timed against: slower spellings of the digit capsules, and an order of changes."""

from torch import Tensor

from capsnet_tutorial import routing
from capsnet_tutorial.layers import DigitCaps


class PlainDigitCaps(DigitCaps):
    """Digit capsules whose routing is left to autograd."""

    def forward(self, u: Tensor) -> Tensor:
        """Route with the plain loop."""
        return routing._route(self.predict(u), self.num_iterations, stop_gradient=False)[-1].v_j


class RepeatingDigitCaps(PlainDigitCaps):
    """The same, with the matrices repeated for every image."""

    def predict(self, u: Tensor) -> Tensor:
        """Multiply each child with a copy of its matrices for its own image."""
        repeated = self.weight.repeat(len(u), 1, 1, 1, 1)
        return (repeated @ u[:, :, None, :, None]).squeeze(4)


class BatchedDigitCaps(DigitCaps):
    """Digit capsules whose predictions are spelled as a batch of matrix products, one a child."""

    def predict(self, u: Tensor) -> Tensor:
        """Multiply the matrix of a child's vectors with its matrices."""
        _, j, m, _ = self.weight.shape
        predicted = u.transpose(0, 1) @ self.weight.flatten(1, 2).mT
        return predicted.unflatten(2, (j, m)).transpose(0, 1)


# What is changed, one thing after the other: name, digit capsules, bfloat16, channels last, and
# whether Adam moves all weights in one call.
LADDER = [
    ("W repeated for every image", RepeatingDigitCaps, False, False, True),
    ("plain autograd", PlainDigitCaps, False, False, True),
    ("gradient of routing in one product", DigitCaps, False, False, True),
    ("bfloat16", DigitCaps, True, False, True),
    ("û as a batch of products", BatchedDigitCaps, True, False, True),
    ("channels last", DigitCaps, True, True, True),
    ("Adam not fused", DigitCaps, True, False, False),
]
_, PLAIN, FULL, HALF, *_ = (name for name, *_ in LADDER)
