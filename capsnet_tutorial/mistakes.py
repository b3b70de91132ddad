"""Wrong variants met in public code, beside the right ones: lessons and tests run them.

Each topic has a module of its own; this one gathers them all.
"""

from capsnet_tutorial.mistakes_capsnet import (
    PrimaryCapsByView,
    primary_by_view,
)
from capsnet_tutorial.mistakes_margin import (
    margin_by_plain_root,
    margin_costs,
    margin_mean,
    margin_not_squared,
    margin_of_softmax,
    predict_over_batch,
)
from capsnet_tutorial.mistakes_reconstruction import (
    CapsNetDrawingItsGuess,
    loss_with_mean,
    reconstruction_mean,
)
from capsnet_tutorial.mistakes_routing import (
    DigitCapsOverChildren,
    route,
    routing_over_children,
    routing_over_children_but_last,
    routing_shared_over_batch,
)
from capsnet_tutorial.mistakes_squashing import (
    paper_squash,
    squash_epsilon_inside,
    squash_epsilon_outside,
    squash_literal,
    squash_narrow,
)
from capsnet_tutorial.mistakes_training import (
    fit_by_test_loss,
    mean_of_batch_means,
    shift_whole_batch,
)

__all__ = [
    "CapsNetDrawingItsGuess",
    "DigitCapsOverChildren",
    "PrimaryCapsByView",
    "fit_by_test_loss",
    "loss_with_mean",
    "margin_by_plain_root",
    "margin_costs",
    "margin_mean",
    "margin_not_squared",
    "margin_of_softmax",
    "mean_of_batch_means",
    "paper_squash",
    "predict_over_batch",
    "primary_by_view",
    "reconstruction_mean",
    "route",
    "routing_over_children",
    "routing_over_children_but_last",
    "routing_shared_over_batch",
    "shift_whole_batch",
    "squash_epsilon_inside",
    "squash_epsilon_outside",
    "squash_literal",
    "squash_narrow",
]
