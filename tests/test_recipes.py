"""Recipes: what is trained where, and what a recorded run says."""

import json
from dataclasses import replace

import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, Digits, Epoch, fit, recipes, records
from capsnet_tutorial.augmentation import AUGMENTATIONS
from capsnet_tutorial.data import DATA_VARIABLE
from capsnet_tutorial.recipes import describe_run, recipe_for, write_run

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture(autouse=True)
def _no_folder_named(monkeypatch):
    monkeypatch.delenv(DATA_VARIABLE, raising=False)


def test_a_gpu_trains_the_papers_model_on_all_of_mnist():
    recipe = recipe_for(CUDA)
    assert recipe.config == CapsNetConfig()
    assert recipe.all_of_mnist
    assert recipe.augment == "shift"


def test_bfloat16_is_left_out_on_a_gpu_that_only_imitates_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for able in (True, False):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda imitated, able=able: able)
        assert recipe_for(CUDA).mixed_precision == able


def test_a_cpu_trains_the_small_model_on_the_digits_that_are_there(monkeypatch):
    assert recipe_for(CPU).config == CapsNetConfig.small()
    assert not recipe_for(CPU).all_of_mnist
    monkeypatch.setenv(DATA_VARIABLE, "/some/folder")
    assert recipe_for(CPU).config == CapsNetConfig.small()
    assert recipe_for(CPU).all_of_mnist


def test_the_sample_digits_are_dealt_out_as_the_recipe_says():
    train, validation, test = recipe_for(CPU).load()
    sizes = [len(digits.labels) for digits in (train, validation, test)]
    assert sizes == [3500, 500, 1000]
    for size in sizes:
        assert f"{size:,}" in recipe_for(CPU).data
    seen = {image.numpy().tobytes() for image in train.images}
    for digits in (validation, test):
        assert not any(image.numpy().tobytes() in seen for image in digits.images)


def test_mnist_is_dealt_out_as_the_recipe_says(monkeypatch):
    parts = [Digits(torch.zeros(n, 1, 1, 1), torch.zeros(n).long()) for n in (60_000, 10_000)]
    monkeypatch.setattr(
        recipes, "mnist", lambda root=None, train=True: parts[0] if train else parts[1]
    )
    sizes = [len(digits.labels) for digits in recipe_for(CUDA).load()]
    assert sizes == [55_000, 5_000, 10_000]
    for size in sizes:
        assert f"{size:,}" in recipe_for(CUDA).data


def test_a_recipe_says_in_words_what_it_is():
    assert "the paper's network with 1,152 primary capsules" in str(recipe_for(CUDA))
    assert "a small network with 288 primary capsules" in str(recipe_for(CPU))
    assert "float32" in str(recipe_for(CPU))


@pytest.mark.slow
def test_the_gpus_recipe_takes_a_step_on_a_cpu():
    recipe = replace(recipe_for(CUDA), epochs=1)
    torch.manual_seed(0)
    model = CapsNet(recipe.config)
    before = model.digit.weight.detach().clone()
    digits = Digits(torch.rand(recipe.batch_size, 1, 28, 28), torch.arange(recipe.batch_size) % 10)
    [epoch] = fit(model, digits, **recipe.options)
    assert 0 < epoch.loss < 2
    assert not model.digit.weight.equal(before)
    assert all(weight.isfinite().all() for weight in model.parameters())


def test_each_augmentation_is_told_in_words():
    for augment in AUGMENTATIONS:
        assert recipes.MOVES[augment] in str(replace(recipe_for(CPU), augment=augment))


def recorded(folder, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", folder)
    history = [Epoch(1, 0.5, 0.4, 50.0, 0.8, 0.9, 0.3), Epoch(2, 0.3, 0.2, 40.0, 0.9, 0.95, 0.2)]
    figures = {"wrong": 21, "total": 1000, "seconds": 61.23, "seed": 7}
    path = write_run(recipe_for(CPU), history, **figures, device=CPU)
    return path, json.loads(path.read_text(encoding="utf-8"))


def test_a_recorded_run_says_all_that_it_takes_to_repeat_it(tmp_path, monkeypatch):
    path, record = recorded(tmp_path, monkeypatch)
    assert path == tmp_path / "lesson06-cpu.json"
    assert record["recipe"]["config"]["conv_channels"] == 64
    assert record["recipe"]["learning_rate"] == recipe_for(CPU).learning_rate
    assert record["seed"] == 7
    assert record["device"] == "cpu"
    assert record["torch"] == torch.__version__
    assert record["epochs"][1]["validation_accuracy"] == 0.95
    assert (record["wrong"], record["total"], record["seconds"]) == (21, 1000, 61.2)


def test_a_recorded_run_is_told_in_words(tmp_path, monkeypatch):
    _, record = recorded(tmp_path, monkeypatch)
    said = describe_run(record)
    assert "21 of 1,000 test digits wrong: 2.10%" in said
    assert "95% interval: 1.38% to 3.19%" in said
    assert "2 epochs in 61 seconds, seed 7" in said
    assert torch.__version__ in said
    assert max(map(len, said.splitlines())) < 80
    assert "No such run has been recorded" in describe_run(None)


def test_the_gpus_record_has_the_name_that_the_lesson_looks_for():
    assert f"lesson06-{CUDA.type}" == recipes.GPU_RECORD
