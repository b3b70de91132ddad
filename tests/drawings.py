"""A small example of every picture, drawn anew at each call: what the tests of pictures look at."""

import torch

from capsnet_tutorial import (
    plotting,
    plotting_capsnet,
    plotting_decades,
    plotting_margin,
    plotting_reconstruction,
    plotting_routing,
    plotting_training,
)

ARROWS = torch.tensor([[1.2, 1.6], [-0.6, 0.8]])
LENGTHS = torch.linspace(0, 5, 101)
DIGITS = torch.linspace(0, 1, 3 * 16).reshape(3, 1, 4, 4)
MISREAD = torch.zeros(10, 10, dtype=torch.int64).index_put(
    (torch.tensor(4), torch.tensor(9)), torch.tensor(12)
)
DRAW = {
    "capsule": plotting.capsule_picture,
    "before-and-after": lambda: plotting.before_and_after(ARROWS, ARROWS / 4),
    "squash-curve": lambda: plotting.squash_curve(
        LENGTHS, LENGTHS**2 / (1 + LENGTHS**2), 2 * LENGTHS / (1 + LENGTHS**2) ** 2
    ),
    "prediction-arrows": lambda: plotting_routing.prediction_arrows(
        torch.stack([ARROWS, ARROWS / 2])
    ),
    "coupling-rounds": lambda: plotting_routing.coupling_rounds(torch.full((3, 2, 4), 0.25)),
    "digits": lambda: plotting_training.digit_grid(DIGITS, ["4, read\nas 9", "7", ""], 2, "Read"),
    "piles": lambda: plotting_training.piles({"to learn from": 3500, "to judge by": 1000}),
    "training-curves": lambda: plotting_training.training_curves(
        [0.4, 0.2], [0.3, 0.1], [0.2, 0.05], [0.1, 0.03]
    ),
    "confusion": lambda: plotting_training.confusion(torch.eye(10).long() * 1000 + MISREAD),
    "one-prediction": lambda: plotting_training.one_prediction(DIGITS[0], torch.arange(10) / 10),
}
DRAW |= {
    "architecture": lambda: plotting_capsnet.architecture(
        {
            "image": (1, 20, 24),
            "features": (64, 12, 16),
            "primary capsules": (64, 8),
            "digit capsules": (10, 16),
            "drawn image": (1, 20, 24),
        }
    ),
    "capsule-cover": lambda: plotting_capsnet.capsule_cover(
        {"by place": torch.tensor([[0, 1, 2], [1, 1, 2]])}, channels=2, grid=(2, 3)
    ),
    "first-lengths": lambda: plotting_decades.first_lengths(
        [36, 72], {"our rule": [0.02, 0.03], "always 1": [0.1, 0.4]}
    ),
    "loss-terms": lambda: plotting_decades.loss_terms(
        {"margin": [0.8, 0.1, 0.0], "reconstruction": [0.1, 0.08, 0.05]}
    ),
    "weights-and-work": lambda: plotting_capsnet.weights_and_work(
        {"convolution": (1, 9), "decoder": (3, 1)}
    ),
}

LENGTH = torch.linspace(0, 1, 101)
SHORT, LONG = (0.9 - LENGTH).clamp(min=0), (LENGTH - 0.1).clamp(min=0)
SLOPES = torch.stack([-2 * SHORT, LONG])
DRAW |= {
    "margin-curves": lambda: plotting_margin.margin_curves(LENGTH, SHORT**2, 0.5 * LONG**2),
    "margin-slopes": lambda: plotting_margin.margin_slopes(LENGTH, SLOPES, SLOPES.sign()),
    "pull-balance": lambda: plotting_margin.pull_balance(
        LENGTH, 2 * SHORT, {0.5: 9 * LONG, 1.0: 18 * LONG}
    ),
    "first-steps": lambda: plotting_margin.first_steps(
        {0.5: ([0.02, 0.8, 0.6], [0.01, 0.7, 0.2]), 1.0: ([0.02, 0.8, 0.5], [0.01, 0.7, 0.1])},
        {0.5: 0.245, 1.0: 0.18},
    ),
}

GENERATOR = torch.Generator().manual_seed(0)
IMAGES = torch.rand(3, 1, 4, 4, generator=GENERATOR)
CAPSULES = torch.randn(3, 4, generator=GENERATOR)
MASKED = CAPSULES * torch.tensor([[0.0], [1.0], [0.0]])
MOVED = torch.rand(4, 5, 1, 6, 6, generator=GENERATOR)
MOVED[1] = 0
MOVED[3, 0], MOVED[3, -1] = 0, 1
X = torch.arange(9.0)
DRAW |= {
    "bottleneck": lambda: plotting_reconstruction.bottleneck(IMAGES[0], 4),
    "capsule-table": lambda: plotting_reconstruction.capsule_table(
        CAPSULES, MASKED, ("before", "after")
    ),
    "picture-rows": lambda: plotting_reconstruction.picture_rows(
        {"digit": IMAGES, "drawn\nagain": 1 - IMAGES}, ["a\nb", "c", "d"], "Pictures"
    ),
    "perturbations": lambda: plotting_reconstruction.perturbations(
        MOVED, [-0.2, -0.1, 0.0, 0.1, 0.2], 7
    ),
    "scatter": lambda: plotting_reconstruction.scatter(X, -X, ("a number", "slant"), -1.0),
}
