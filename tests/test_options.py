"""Choices of a run: the defaults are lesson 06's recipes, and nothing is left open."""

import argparse
import shlex
from dataclasses import asdict, fields, replace

import pytest
import torch

from capsnet_tutorial import devices
from capsnet_tutorial.cli import main
from capsnet_tutorial.devices import native_bfloat16
from capsnet_tutorial.options import Options, check_device, check_same, choose_options
from capsnet_tutorial.recipes import recipe_for

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _no_folder_named(monkeypatch):
    monkeypatch.delenv("CAPSNET_DATA", raising=False)


def test_without_a_word_the_small_network_is_trained_as_in_the_lesson():
    assert choose_options({"device": "cpu"}).recipe == recipe_for(CPU)


def test_small_on_mnist_is_the_lessons_third_way(monkeypatch):
    monkeypatch.setenv("CAPSNET_DATA", "/some/folder")
    assert choose_options({"device": "cpu", "data": "mnist"}).recipe == recipe_for(CPU)


def test_the_papers_network_on_mnist_is_trained_as_in_the_lesson_on_a_gpu():
    given = {"device": "cpu", "preset": "paper", "data": "mnist", "precision": "bf16"}
    assert choose_options(given).recipe == recipe_for(torch.device("cuda"))


def test_each_choice_reaches_the_recipe():
    given = {
        "routing": 1,
        "stop_gradient": True,
        "reconstruction": False,
        "epochs": 9,
        "batch_size": 7,
        "learning_rate": 0.5,
        "augment": "affine",
        "precision": "bf16",
    }
    recipe = choose_options(given).recipe
    assert recipe.config.num_iterations == 1
    assert recipe.config.stop_gradient
    assert not recipe.config.reconstruction
    assert recipe.options == {
        "epochs": 9,
        "batch_size": 7,
        "learning_rate": 0.5,
        "augment": "affine",
        "mixed_precision": True,
    }


@pytest.mark.parametrize("able", [True, False])
def test_auto_is_bfloat16_where_the_processor_computes_in_it(able, monkeypatch):
    monkeypatch.setattr("capsnet_tutorial.options.native_bfloat16", lambda device: able)
    for given in ({"precision": "auto"}, {"preset": "paper"}):
        assert choose_options(given).precision == ("bf16" if able else "fp32")
    assert choose_options({}).precision == "fp32"


@pytest.mark.parametrize("name", ["avx512_bf16", "amx_bf16", "bf16"])
def test_a_cpu_has_bfloat16_if_torch_lists_an_instruction_for_it(name, monkeypatch):
    lists = {"avx512_bf16": False, "avx2": True, "cpu_name": "any"}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: lists, raising=False)
    assert not native_bfloat16(CPU)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: lists | {name: True}, raising=False)
    assert native_bfloat16(CPU)


def test_a_torch_that_lists_no_instructions_has_none(monkeypatch):
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert not native_bfloat16(CPU)


def test_a_gpu_has_bfloat16_if_it_does_more_than_imitate_it(monkeypatch):
    monkeypatch.setattr(devices.torch.cuda, "is_available", lambda: True)
    for able in (True, False):
        # Older GPUs say yes where imitation is allowed.
        monkeypatch.setattr(
            devices.torch.cuda,
            "is_bf16_supported",
            lambda imitated=True, able=able: imitated or able,
        )
        assert native_bfloat16(torch.device("cuda")) == able


def test_the_command_of_a_choice_says_all_of_it(monkeypatch):
    given = {"preset": "paper", "stop_gradient": True, "seed": 3, "reconstruction": False}
    options = choose_options(given | {"learning_rate": 1e-5, "device": "cpu"})
    seen = []
    monkeypatch.setattr("capsnet_tutorial.cli.train", lambda words: seen.append(words) or 0)
    assert main(shlex.split(options.command)[1:]) == 0
    assert seen == [asdict(options)]
    assert {field.name for field in fields(Options)} == set(asdict(options))


def test_a_run_goes_on_with_what_it_was_begun_with_and_nothing_else():
    options = choose_options({"epochs": 4, "seed": 2, "device": "cpu"})
    for given in ({}, {"epochs": 4}, {"seed": 2, "data": "sample"}, {"precision": "fp32"}):
        check_same(options, given)
    said = "begun with epochs 4, not 5, seed 2, not 0: leave that out"
    with pytest.raises(ValueError, match=said):
        check_same(options, {"epochs": 5, "seed": 0})


@pytest.mark.parametrize("name", ["nowhere", "", "cuda:99", "mps:7", "xpu", "meta"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(ValueError, match="device"):
        check_device(name)


def test_help_says_what_the_defaults_are(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["train", "--help"])
    assert ended.value.code == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["small", "sample", "6", "25", "0.0015", "fp32"] in lines
    assert ["small", "mnist", "2", "50", "0.0015", "fp32"] in lines
    assert ["paper", "mnist", "50", "128", "0.001", "auto"] in lines
    assert argparse.SUPPRESS not in str(lines)


@pytest.mark.parametrize("name", ["data", "preset", "precision", "augment"])
def test_a_choice_that_is_not_there_is_refused_with_those_that_are(name):
    options = choose_options({"device": "cpu"})
    with pytest.raises(ValueError, match=f"{name} must be one of .*{getattr(options, name)}"):
        replace(options, **{name: "foo"})
