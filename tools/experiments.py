"""Measure what the lessons quote and are too slow to measure again each time.

`python tools/experiments.py NAME` writes results/NAME.json. Names: the functions below.
"""

import sys
import time
from dataclasses import asdict

import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, evaluate, fit, sample_digits
from capsnet_tutorial.layers import DigitCaps, PrimaryCaps
from capsnet_tutorial.mistakes import DigitCapsOverChildren, PrimaryCapsByView
from capsnet_tutorial.recipes import recipe_for
from capsnet_tutorial.records import write_record

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
    history = fit(model, train, validation, **recipe.options, seed=seed, progress=True)
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


if __name__ == "__main__":
    [name] = sys.argv[1:]
    write_record(name, f"python tools/experiments.py {name}", **globals()[name]())
