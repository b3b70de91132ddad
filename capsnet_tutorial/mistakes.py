"""Wrong variants met in public code, beside the right ones: lessons and tests run them."""

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor
from torch.optim.lr_scheduler import ReduceLROnPlateau

from capsnet_tutorial.augmentation import move
from capsnet_tutorial.capsnet import CapsNet, CapsNetLoss, CapsNetOutput, capsnet_loss
from capsnet_tutorial.data import Digits
from capsnet_tutorial.evaluation import evaluate
from capsnet_tutorial.layers import DigitCaps, PrimaryCaps
from capsnet_tutorial.margin import class_presence
from capsnet_tutorial.reconstruction import RECONSTRUCTION_WEIGHT
from capsnet_tutorial.routing import RoutingTrace
from capsnet_tutorial.squashing import lengths, squash
from capsnet_tutorial.training import training_step

CHILDREN, PARENTS = 1, 2
"""The axes of routing logits `[b, i, j]` over which a softmax may run; the paper's is `PARENTS`."""


def paper_squash(
    s: Float[Tensor, "... m"], inside: float = 0.0, outside: float = 0.0
) -> Float[Tensor, "... m"]:
    """Compute Equation 1 term by term, with an epsilon inside or outside of the root.

    Args:
        s: vectors along the last axis.
        inside: what is added to the squared length, under the root.
        outside: what is added to the root.

    Returns:
        The squashed vectors; without any epsilon, as the equation is printed.

    >>> paper_squash(torch.tensor([3.0, 4.0]))  # 25/26 of (0.6, 0.8)
    tensor([0.5769, 0.7692])
    """
    # Epsilon: inside of the root, outside, or none.
    squared = (s**2).sum(dim=-1, keepdim=True)
    norm = torch.sqrt(squared + inside) + outside
    return squared / (1 + squared) * s / norm


def squash_literal(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash as Equation 1 is printed, dividing by the length.

    The fault: at 0 it divides 0 by 0, so the value and the gradient are NaN.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors, NaN where `s` is 0.

    >>> squash_literal(torch.zeros(2))
    tensor([nan, nan])
    """
    return paper_squash(s)


def squash_epsilon_inside(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash with an epsilon of 1e-7 under the root.

    The fault: the epsilon outweighs small squared lengths. A vector of length 1e-4 comes out 70%
    too short.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors, too short where `s` is.

    >>> squash_epsilon_inside(torch.zeros(2))
    tensor([0., 0.])
    """
    return paper_squash(s, inside=1e-7)


def squash_epsilon_outside(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash with an epsilon of 1e-7 added to the length, behind the root.

    The fault: the root itself is still taken of 0, where its slope is infinite, so the gradient at
    0 is NaN though the value is 0.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors.

    >>> squash_epsilon_outside(torch.zeros(2))
    tensor([0., 0.])
    """
    return paper_squash(s, outside=1e-7)


def squash_narrow(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash by the right formula, but in the type of `s`.

    The fault: in float16 a squared length above 65,504 overflows to infinity, and the longest
    vectors come out as 0. `squash` computes in float32.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors, of the type of `s`.

    >>> squash_narrow(torch.tensor([192.0, 256.0], dtype=torch.float16))
    tensor([0., 0.], dtype=torch.float16)
    """
    norm = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    return s * (norm / (1 + norm**2))


def route(
    u_hat: Float[Tensor, "b i j m"], softmax_dims: list[int], share_batch: bool = False
) -> list[RoutingTrace]:
    """Run Procedure 1 with one softmax axis an iteration: 2 is the parents', 1 the children's.

    Args:
        u_hat: prediction vectors.
        softmax_dims: the axis of each iteration, `PARENTS` or `CHILDREN`.
        share_batch: average the agreement over the batch.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    b_ij = u_hat.new_zeros(u_hat.shape[:3])
    trace = []
    for dim in softmax_dims:
        c_ij = b_ij.softmax(dim=dim)
        s_j = torch.einsum("bij,bijm->bjm", c_ij, u_hat)
        v_j = squash(s_j)
        trace.append(RoutingTrace(b_ij, c_ij, s_j, v_j))
        agreement = torch.einsum("bjm,bijm->bij", v_j, u_hat)
        b_ij = b_ij + (agreement.mean(dim=0, keepdim=True) if share_batch else agreement)
    return trace


def routing_over_children(
    u_hat: Float[Tensor, "b i j m"], num_iterations: int = 3
) -> list[RoutingTrace]:
    """Route with the softmax over the children: each parent shares itself out, not each child.

    Args:
        u_hat: prediction vectors.
        num_iterations: routing iterations.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    return route(u_hat, [CHILDREN] * num_iterations)


def routing_over_children_but_last(
    u_hat: Float[Tensor, "b i j m"], num_iterations: int = 4
) -> list[RoutingTrace]:
    """Route with the softmax over the children in all iterations but the last.

    Args:
        u_hat: prediction vectors.
        num_iterations: routing iterations, the last one included.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    return route(u_hat, [CHILDREN] * (num_iterations - 1) + [PARENTS])


def routing_shared_over_batch(
    u_hat: Float[Tensor, "b i j m"], num_iterations: int = 3
) -> list[RoutingTrace]:
    """Route with agreement averaged over the batch: an image's output depends on its neighbours.

    Args:
        u_hat: prediction vectors.
        num_iterations: routing iterations.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    return route(u_hat, [PARENTS] * num_iterations, share_batch=True)


class DigitCapsOverChildren(DigitCaps):
    """`DigitCaps` with the softmax over the children, for training beside the right one."""

    def forward(self, u: Float[Tensor, "b i n"]) -> Float[Tensor, "b j m"]:
        """Turn children `[b, i, n]` into parents `[b, j, m]`, sharing out the wrong side.

        Args:
            u: the children's outputs.

        Returns:
            The parents' outputs.
        """
        return routing_over_children(self.predict(u), self.num_iterations)[-1].v_j


def mean_of_batch_means(values: Float[Tensor, " b"], batch_size: int) -> float:
    """Average over batches as if all were of one size.

    The fault: an image in a short last batch counts for more than any other.

    Args:
        values: a value an image.
        batch_size: images a batch; the last one takes what is left.

    Returns:
        The mean of the batches' means.

    >>> mean_of_batch_means(torch.tensor([1.0, 1.0, 1.0, 0.0]), batch_size=3)  # 0.75 is right
    0.5
    """
    return torch.stack([part.mean() for part in values.split(batch_size)]).mean().item()


def shift_whole_batch(
    images: Float[Tensor, "b c h w"], max_shift: int, generator: torch.Generator | None = None
) -> Float[Tensor, "b c h w"]:
    """Move all images of a batch by one and the same random move.

    The fault: a step sees one move where it could see as many as it has images.

    Args:
        images: `[b, c, h, w]`.
        max_shift: the largest move, in pixels.
        generator: what to draw from; torch's own by default.

    Returns:
        The moved images.

    >>> shift_whole_batch(torch.ones(2, 1, 3, 3), max_shift=0).sum()
    tensor(18.)
    """
    moves = torch.randint(-max_shift, max_shift + 1, (2, 1, 1), generator=generator)
    return move(images, moves.expand(2, len(images), 1), max_shift)


def fit_by_test_loss(
    model: CapsNet,
    train: Digits,
    test: Digits,
    epochs: int,
) -> list[float]:
    """Train, and lower the learning rate whenever the loss on the *test* digits stops falling.

    The fault: what is learned depends on the labels of the digits that are to judge it.

    Args:
        model: the network to train, in place.
        train: digits to learn from.
        test: the digits that are to judge it.
        epochs: passes over `train`.

    Returns:
        The learning rate of each epoch.
    """
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = ReduceLROnPlateau(optimizer, patience=0)
    rates = []
    for _ in range(epochs):
        rates += scheduler.get_last_lr()
        parts = (part.split(50) for part in train)
        for batch in zip(*parts, strict=True):
            training_step(model, optimizer, *batch)
        scheduler.step(evaluate(model, test).loss)
    return rates


def primary_by_view(
    channels: Float[Tensor, "b c y x"],
    dim: int = 8,
) -> Float[Tensor, "b i n"]:
    """Read a convolution's output as capsules in the order in which its numbers lie in memory.

    The fault: memory holds one channel after the other, so a capsule is `dim` neighbouring pixels
    of one channel, and it straddles rows and channels where the grid's width isn't a multiple.

    Args:
        channels: what the convolution made.
        dim: components of a capsule, n.

    Returns:
        The wrong capsules, as many as the right ones.

    >>> primary_by_view(torch.arange(16.0).reshape(1, 8, 1, 2))[0, 0]
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    return channels.reshape(len(channels), -1, dim)


class PrimaryCapsByView(PrimaryCaps):
    """`PrimaryCaps` with the bare view, for training beside the right one."""

    def group(self, channels: Float[Tensor, "b c y x"]) -> Float[Tensor, "b i n"]:
        """Read channels as capsules by `primary_by_view`.

        Args:
            channels: what the convolution made.

        Returns:
            The wrong capsules.
        """
        return primary_by_view(channels, channels.shape[1] // self.types)


def margin_costs(
    length: Float[Tensor, "b k"], targets: Shaped[Tensor, "..."], power: int = 2
) -> Float[Tensor, "b k"]:
    """Compute Equation 4 before its sum over the classes, from lengths; the paper's power is 2.

    Args:
        length: the capsules' lengths.
        targets: class numbers `[b]` or presence `[b, k]`.
        power: of the distance to the margin.

    Returns:
        The cost of each class of each image.

    >>> margin_costs(torch.tensor([[0.0, 1.0]]), torch.tensor([0])).sum()  # 0.81 + 0.405
    tensor(1.2150)
    """
    present = class_presence(targets, *length.shape).to(length)
    too_short = (0.9 - length).clamp(min=0) ** power
    too_long = (length - 0.1).clamp(min=0) ** power
    return present * too_short + 0.5 * (1 - present) * too_long


def margin_not_squared(
    v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Take the margin loss without its squares.

    The fault: the pull is as strong right beside the margin as far from it, and nine absent classes
    outweigh the present one wherever all lengths are alike and above 0.1.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over the batch.

    >>> margin_not_squared(torch.zeros(1, 10, 16), torch.tensor([3]))  # 0.81 is right
    tensor(0.9000)
    """
    return margin_costs(lengths(v_j), targets, power=1).sum(dim=1).mean()


def margin_of_softmax(
    v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Take the margin loss of a softmax of the lengths.

    The fault: with ten lengths in [0, 1] the true class gets a share of e / (e + 9) = 0.232 at
    most, so the loss never falls below 0.446.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over the batch.

    >>> margin_of_softmax(torch.zeros(1, 10, 16), torch.tensor([3]))  # 0.9 less 0.1, squared
    tensor(0.6400)
    """
    return margin_costs(lengths(v_j).softmax(dim=1), targets).sum(dim=1).mean()


def margin_mean(v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]) -> Float[Tensor, ""]:
    """Average the margin loss over the classes where the paper adds it up.

    The fault: with ten classes it is a tenth, so the reconstruction loss weighs ten times as much.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over batch and classes.

    >>> margin_mean(torch.zeros(1, 10, 16), torch.tensor([3]))  # 0.81 is right
    tensor(0.0810)
    """
    return margin_costs(lengths(v_j), targets).mean()


def margin_by_plain_root(
    v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Take the right margin loss of lengths that are a root written out by hand.

    The fault: the root's slope at 0 is infinite, so one zero capsule makes its gradient NaN.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over the batch.

    >>> margin_by_plain_root(torch.zeros(1, 10, 16), torch.tensor([3]))
    tensor(0.8100)
    """
    return margin_costs((v_j**2).sum(dim=-1).sqrt(), targets).sum(dim=1).mean()


def predict_over_batch(length: Float[Tensor, "b k"]) -> Int[Tensor, " b"]:
    """Choose each image's class after a softmax of the lengths over the *batch*.

    The fault: an image competes with its neighbours. Alone, it always gets class 0.

    Args:
        length: the capsules' lengths.

    Returns:
        A class an image.

    >>> predict_over_batch(torch.tensor([[0.1, 0.2, 0.9]]))
    tensor([0])
    """
    return length.softmax(dim=0).argmax(dim=1)


def reconstruction_mean(
    reconstruction: Float[Tensor, "b c h w"], images: Float[Tensor, "b c h w"]
) -> Float[Tensor, ""]:
    """Average the squared errors over the pixels too, as `torch.nn.MSELoss` does.

    The fault: with 784 pixels it is 1/784 of the paper's sum, and the weight of 0.0005 makes
    nearly nothing of it.

    Args:
        reconstruction: what the decoder drew.
        images: what it should have drawn.

    Returns:
        The mean over pixels and batch.

    >>> reconstruction_mean(torch.zeros(3, 1, 28, 28), torch.full((3, 1, 28, 28), 0.5))  # not 196
    tensor(0.2500)
    """
    return (reconstruction - images).square().mean()


def loss_with_mean(
    output: CapsNetOutput, images: Float[Tensor, "b c h w"], targets: Shaped[Tensor, "..."]
) -> CapsNetLoss:
    """Take the network's loss with `reconstruction_mean` in its total.

    Args:
        output: what the network returned for `images` and their labels.
        images: `[b, c, h, w]` with intensities in [0, 1].
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The total with the fault, and the two terms as they should be, to be compared.
    """
    right = capsnet_loss(output, images, targets)
    mean = reconstruction_mean(output.reconstruction, images)
    return right._replace(total=right.margin + RECONSTRUCTION_WEIGHT * mean)


class CapsNetDrawingItsGuess(CapsNet):
    """`CapsNet` that draws from its longest capsule in training, too.

    The fault: as long as the network guesses wrongly, a capsule of another class learns to draw
    the digit, and the true one learns nothing from it.
    """

    def decode(
        self, capsules: Float[Tensor, "b k m"], labels: Shaped[Tensor, "..."] | None = None
    ) -> Float[Tensor, "b c h w"]:
        """Draw the longest capsule's class, whatever `labels` say.

        Args:
            capsules: digit capsules.
            labels: left alone.

        Returns:
            The images drawn.
        """
        return super().decode(capsules)
