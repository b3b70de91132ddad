"""Measure what the lessons quote and are too slow to measure again each time.

`python tools/experiments.py NAME` writes results/NAME.json. Names: the functions below.
"""

import sys
import time
from dataclasses import asdict
from functools import partial
from unittest.mock import patch

import torch
from torch.nn.functional import cross_entropy

from capsnet_tutorial import (
    CapsNet,
    CapsNetConfig,
    capsnet_loss,
    evaluate,
    evaluation,
    fit,
    lengths,
    margin_loss,
    reconstruction_loss,
    sample_digits,
    split,
)
from capsnet_tutorial.layers import DigitCaps, PrimaryCaps
from capsnet_tutorial.mistakes import (
    CapsNetDrawingItsGuess,
    DigitCapsOverChildren,
    PrimaryCapsByView,
    loss_with_mean,
    margin_mean,
    margin_not_squared,
    margin_of_softmax,
)
from capsnet_tutorial.recipes import recipe_for
from capsnet_tutorial.records import write_record
from capsnet_tutorial.thumbnails import pack_images
from capsnet_tutorial.training import batches

AXES = {"parents": DigitCaps, "children": DigitCapsOverChildren}


def network(config: CapsNetConfig, axis: str, std: float, seed: int) -> CapsNet:
    """Build a network that routes over `axis`, with first weights W of spread `std`."""
    torch.manual_seed(seed)
    model = CapsNet(config)
    layer = AXES[axis](config.num_primary, config.primary_dim, config.num_classes, config.digit_dim)
    torch.nn.init.normal_(layer.weight, std=std)
    model.digit = layer
    return model


def axis_and_scale(epochs: int = 3, seed: int = 0) -> dict:
    """Train with both softmax axes and three spreads of W; lengths at the start for two sizes."""
    train, held_out = sample_digits()
    first = train.images[::20]
    rows = []
    for axis in AXES:
        for std in (0.01, 0.1, 1.0):
            row = {"axis": axis, "std": std}
            for config in (CapsNetConfig.small(), CapsNetConfig()):
                model = network(config, axis, std, seed)
                with torch.no_grad():
                    row[f"length_{config.num_primary}"] = model(first).lengths.mean().item()
            model = network(CapsNetConfig.small(), axis, std, seed)
            fit(model, train, epochs=epochs, seed=seed)
            row["accuracy"] = evaluate(model, held_out).accuracy
            print(row, flush=True)
            rows.append(row)
    return {
        "seed": seed,
        "data": "sample digits: 4,000 to train, 1,000 held out; lengths on 200 of the 4,000",
        "epochs": epochs,
        "rows": rows,
    }


def small_model(epochs: int = 6, seed: int = 0) -> dict:
    """Train the small network as the README does, and judge it on the held-out digits."""
    train, held_out = sample_digits()
    torch.manual_seed(seed)
    model = CapsNet(CapsNetConfig.small())
    began = time.perf_counter()
    history = fit(model, train, epochs=epochs, seed=seed)
    seconds = time.perf_counter() - began
    return {
        "seed": seed,
        "data": "sample digits: 4,000 to train, 1,000 held out",
        "epochs": epochs,
        "threads": torch.get_num_threads(),
        "seconds": round(seconds, 1),
        "history": [epoch._asdict() for epoch in history],
        "accuracy": evaluate(model, held_out).accuracy,
    }


def primary_grouping(epochs: int = 3, seeds: tuple[int, ...] = (0, 1, 2)) -> dict:
    """Train with primary capsules by type and place, and by the bare view."""
    train, held_out = sample_digits()
    config = CapsNetConfig.small()
    groupings = {"type and place": PrimaryCaps, "bare view": PrimaryCapsByView}
    rows = []
    for name, layer in groupings.items():
        accuracies = []
        for seed in seeds:
            torch.manual_seed(seed)
            model = CapsNet(config)
            right = model.primary
            model.primary = layer(config.conv_channels, config.primary_types, config.primary_dim)
            model.primary.load_state_dict(right.state_dict())
            fit(model, train, epochs=epochs, seed=seed)
            accuracies.append(evaluate(model, held_out).accuracy)
            print(name, seed, accuracies[-1], flush=True)
        rows.append({"grouping": name, "accuracies": accuracies})
    return {
        "seed": list(seeds),
        "data": "sample digits: 4,000 to train, 1,000 held out; the small network",
        "epochs": epochs,
        "rows": rows,
    }


def small_on_mnist(seed: int = 0) -> dict:
    """Train the small model on all of MNIST, as lesson 6 does where CAPSNET_DATA names a folder."""
    recipe = recipe_for(torch.device("cpu"))
    assert recipe.all_of_mnist, "set CAPSNET_DATA to the folder that holds MNIST/raw"
    train, validation, test = recipe.load()
    torch.manual_seed(seed)
    model = CapsNet(recipe.config)
    began = time.perf_counter()
    history = fit(model, train, validation, **recipe.options, seed=seed)
    seconds = time.perf_counter() - began
    wrong = int((evaluate(model, test).lengths.argmax(dim=1) != test.labels).sum())
    return {
        "seed": seed,
        "data": recipe.data,
        "recipe": asdict(recipe),
        "seconds": round(seconds),
        "threads": torch.get_num_threads(),
        "wrong": wrong,
        "total": len(test.labels),
        "epochs": [epoch._asdict() for epoch in history],
    }


LOSSES = {
    "weight 0.5": margin_loss,
    **{f"weight {w}": partial(margin_loss, lambda_=w) for w in (0, 1, 5)},
    "not squared": margin_not_squared,
    "of a softmax": margin_of_softmax,
    "mean": margin_mean,
    "cross-entropy": lambda v_j, labels: cross_entropy(lengths(v_j), labels),
}


def class_losses(epochs: int = 3, seeds: tuple[int, ...] = (0, 1, 2), first: int = 80) -> dict:
    """Train the small network without its decoder by several losses of the lengths alone."""
    train, validation = split(sample_digits()[0], 500)
    rows = []
    for name, loss in LOSSES.items():
        accuracies, present, absent = [], [], []
        for seed in seeds:
            torch.manual_seed(seed)
            model = CapsNet(CapsNetConfig.small(reconstruction=False))
            optimizer = torch.optim.Adam(model.parameters())
            generator = torch.Generator().manual_seed(seed)
            for _ in range(epochs):
                for images, labels in batches(train, 50, generator):
                    v_j, length, _ = model(images)
                    if seed == seeds[0] and len(present) < first:
                        of_label = length.gather(1, labels[:, None])
                        present.append(round(of_label.mean().item(), 4))
                        rest = (length.sum(dim=1, keepdim=True) - of_label) / 9
                        absent.append(round(rest.mean().item(), 4))
                    optimizer.zero_grad()
                    loss(v_j, labels).backward()
                    optimizer.step()
            judged = evaluate(model, validation)
            accuracies.append(judged.accuracy)
            print(name, seed, accuracies[-1], flush=True)
        of_label = judged.lengths.gather(1, validation.labels[:, None])
        ends = of_label.mean().item(), (judged.lengths.sum() - of_label.sum()).item() / 4500
        rows.append(
            {"loss": name, "accuracies": accuracies, "lengths": ends}
            | {"first_present": present, "first_absent": absent}
        )
    return {
        "seed": list(seeds),
        "data": "sample digits: 3,500 to learn from, 500 to judge by; the first steps of seed 0",
        "epochs": epochs,
        "rows": rows,
    }


DRAWING = {
    "sum": (CapsNet, True, capsnet_loss),
    "mean": (CapsNet, True, loss_with_mean),
    "guess": (CapsNetDrawingItsGuess, True, capsnet_loss),
    "no decoder": (CapsNet, False, capsnet_loss),
}
DRAWING_RECIPE = {"epochs": 8, "batch_size": 25, "learning_rate": 2e-3, "augment": "none"}
"""What lesson 4 trains by; chosen on 500 of the training digits."""


def drawing(seeds: tuple[int, ...] = (0,)) -> dict:
    """Train as lesson 4 does; with the mean for the sum; drawing the guess; without a decoder."""
    train, held_out = sample_digits()
    firsts = [int((held_out.labels == k).nonzero()[0]) for k in range(10)]
    rows = []
    for name, (kind, decoder, loss) in DRAWING.items():
        row = {"variant": name, "accuracies": [], "sse": [], "first_epoch_wrong": []}
        for seed in seeds:
            torch.manual_seed(seed)
            model = kind(CapsNetConfig.small(reconstruction=decoder))
            with patch.object(evaluation, "capsnet_loss", loss):
                history = fit(model, train, **DRAWING_RECIPE, seed=seed)
            row["accuracies"].append(evaluate(model, held_out).accuracy)
            row["first_epoch_wrong"].append(1 - history[0].accuracy)
            if decoder:
                # From the true class's capsule, whatever the network drew from in training.
                with torch.no_grad():
                    capsules = model(held_out.images).capsules
                    drawn = CapsNet.decode(model, capsules, held_out.labels)
                row["sse"].append(reconstruction_loss(drawn, held_out.images).item())
                if seed == seeds[0]:
                    row["pictures"] = pack_images(drawn[firsts])
            print(name, seed, row["accuracies"][-1], row["sse"][-1:], flush=True)
        rows.append(row)
    return {
        "seed": list(seeds),
        "data": "sample digits: 4,000 to train, 1,000 held out; the small network",
        **DRAWING_RECIPE,
        "rows": rows,
    }


if __name__ == "__main__":
    [name] = sys.argv[1:]
    write_record(name, f"python tools/experiments.py {name}", **globals()[name]())
