"""The site's widgets compute what the package does: node runs them on numbers made here."""

import ast
import importlib.util
import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import notebooks
import numpy as np
import pytest
import torch
import widgets as tool
from bs4 import BeautifulSoup
from matplotlib.figure import Figure
from torch import nn

from capsnet_tutorial import (
    Decoder,
    Digits,
    dynamic_routing,
    lengths,
    margin_loss,
    mask_capsules,
    sample_digits,
    squash,
)
from capsnet_tutorial.mistakes import margin_costs, routing_over_children
from capsnet_tutorial.pictures import Picture
from capsnet_tutorial.records import read_record
from capsnet_tutorial.widgets import WIDGETS, show_widget

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "theme/widgets"
starts_node = pytest.mark.slow


@pytest.fixture(scope="module")
def call():
    """Return a function that calls the scripts: `call([module, function, arguments], …)`."""
    spec = importlib.util.spec_from_file_location("formulas", ROOT / "theme/formulas.py")
    formulas = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(formulas)
    command = [formulas.find_node(), str(ROOT / "tests/widgets/call.mjs")]

    def run(*calls):
        run = subprocess.run(
            command, input=json.dumps(calls), capture_output=True, encoding="utf-8"
        )
        assert (run.returncode, run.stderr) == (0, "")
        return json.loads(run.stdout)

    return run


def numbers(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def same(found, expected, atol=1e-12):
    found = torch.tensor(found, dtype=torch.float64)
    torch.testing.assert_close(found, expected.double(), rtol=1e-9, atol=atol)


@starts_node
def test_squash_and_its_slope(call):
    s = torch.cat(
        [torch.tensor([[0.0, 0.0], [3.0, 4.0], [1e-8, 0.0], [0.0, -1e6]]), numbers(20, 2)]
    )
    same(call(*[["squash", "squash", [row]] for row in s.tolist()]), squash(s))
    n = torch.tensor([0.0, 1e-6, 3**-0.5, 1.0, 5.0, 1e3], dtype=torch.float64, requires_grad=True)
    after = lengths(squash(n[:, None]))
    # At 0 the slope of a length is 0 by definition, and so is that of the curve.
    (slope,) = torch.autograd.grad(after.sum(), n)
    same(call(*[["squash", "squashedLength", [x]] for x in n.tolist()]), after.detach())
    same(call(*[["squash", "squashSlope", [x]] for x in n.tolist()]), slope)


@starts_node
@pytest.mark.parametrize("axis", ["parents", "children"])
@pytest.mark.parametrize("shape", [(2, 3, 2), (5, 4, 3), (1, 1, 2)])
def test_routing_of_every_round_over_either_axis(call, axis, shape):
    for u_hat in (numbers(*shape), torch.zeros(*shape, dtype=torch.float64)):
        if axis == "parents":
            _, trace = dynamic_routing(u_hat[None], 10, return_trace=True)
            rounds = [step[:, 0] for step in (trace.c_ij, trace.s_j, trace.v_j)]
        else:
            trace = routing_over_children(u_hat[None], 10)
            rounds = [torch.stack([t[k][0] for t in trace]) for k in (1, 2, 3)]
        [found] = call(["routing", "route", [u_hat.tolist(), 10, axis]])
        assert len(found) == 10
        for name, expected in zip("csv", rounds, strict=True):
            same([step[name] for step in found], expected)


@starts_node
def test_routing_starts_from_the_lessons_example(call):
    source = (ROOT / "lessons/02_routing.py").read_text(encoding="utf-8")
    example = [
        ast.literal_eval(re.search(f"^from_{child} = (.+)$", source, re.MULTILINE)[1])
        for child in ("first", "second")
    ]
    assert call(["routing", "START", []]) == [example]
    twin = json.loads((ROOT / "lessons/02_routing.ipynb").read_text(encoding="utf-8"))
    drawn = "".join(twin["cells"][1]["outputs"][0]["data"]["image/svg+xml"])
    home = (ROOT / "docs/assets/routing.svg").read_text(encoding="utf-8")
    assert home.strip() == drawn.strip()
    alt = twin["cells"][1]["outputs"][0]["metadata"]["image/svg+xml"]["alt"]
    assert f"![{alt}](assets/routing.svg)" in (ROOT / "docs/index.md").read_text(encoding="utf-8")


CONSTANTS = [(0.9, 0.1, 0.5), (0.8, 0.2, 1.0), (0.5, 0.6, 0.0), (1.0, 0.0, 5.0)]


@starts_node
@pytest.mark.parametrize("constants", CONSTANTS)
def test_margin_terms_slopes_and_total(call, constants):
    m_plus, m_minus, lambda_ = constants
    options = {"m_plus": m_plus, "m_minus": m_minus, "lambda_": lambda_}
    generator = torch.Generator().manual_seed(0)
    some = torch.rand(10, generator=generator, dtype=torch.float64).clamp(min=0.01)
    knobs = {"mPlus": m_plus, "mMinus": m_minus, "lambda": lambda_}
    calls, expected = [], []
    for n in (some, torch.full((10,), 1.0), torch.full((10,), 1e-9)):
        for present in (torch.zeros(10), torch.ones(10), (torch.arange(10) % 3 == 0).float()):
            v = n.double().view(1, 10, 1).requires_grad_()
            targets = present.int()[None]
            each = zip(v.split(1, dim=1), targets.split(1, dim=1), strict=True)
            terms = torch.stack([margin_loss(*pair, **options) for pair in each]).detach()
            total = margin_loss(v, targets, **options)
            (slopes,) = torch.autograd.grad(total, v)
            expected.append({"terms": terms, "slopes": slopes.flatten(), "total": total.detach()})
            calls.append(["margin", "marginTerms", [n.tolist(), present.tolist(), knobs]])
    for found, right in zip(call(*calls), expected, strict=True):
        for name, values in right.items():
            same(found[name], values)


@starts_node
def test_margin_slopes_of_capsules_of_zeros_are_those_of_their_length(call):
    # A capsule of zeros has no direction, so autograd gives it no slope; its length has one.
    n, targets = torch.zeros(1, 10, dtype=torch.float64, requires_grad=True), torch.tensor([4])
    (slopes,) = torch.autograd.grad(margin_costs(n, targets).sum(), n)
    [found] = call(["margin", "marginTerms", [[0] * 10, [k == 4 for k in range(10)]]])
    assert found["total"] == pytest.approx(0.81)
    same(found["slopes"], slopes[0])


def worst(call, file, capsules, labels, pixels):
    """Return by how much a decoder's drawings in node differ from `pixels`, at most."""
    calls = [
        ["digit", "decode", [{"file": str(file)}, capsule, label]]
        for capsule, label in zip(capsules.tolist(), labels.tolist(), strict=True)
    ]
    return (torch.tensor(call(*calls)) - pixels).abs().max().item()


def test_a_decoder_is_packed_with_a_scale_for_each_row_and_rounded():
    layer = nn.Linear(2, 3).requires_grad_(False)
    # Scales 0.01 and 0.002; a row of zeros has none to divide by.
    layer.weight[:] = torch.tensor([[-1.27, 0.016], [0.0508, 0.254], [0.0, 0.0]])
    layer.bias[:] = torch.tensor([0.5, -0.25, 4.0])
    digits = Digits(torch.tensor([[[[0.0, 0.498, 0.999, 1.0]]]]), torch.tensor([12]))
    capsules = torch.tensor([[0.125, -2.0]])
    packed = tool.pack(SimpleNamespace(layers=[layer, nn.ReLU()]), capsules, digits)

    size = int.from_bytes(packed[:4], "little")
    header, rest = packed[4 : 4 + size], packed[4 + size :]
    assert size % 4 == 0
    assert json.loads(header) == {"layers": [[3, 2]], "labels": [12], "digit_dim": 2, "pixels": 4}
    floats = np.frombuffer(rest[:32], "<f4")
    assert floats[2] > 0
    assert floats.tolist() == pytest.approx([0.01, 0.002, 0, 0.5, -0.25, 4, 0.125, -2])
    assert list(rest[32:36]) == [0, 127, 255, 255]
    assert np.frombuffer(rest[36:], np.int8).tolist() == [-127, 2, 25, 127, 0, 0]


@starts_node
def test_any_decoder_draws_in_node_as_in_pytorch(call, tmp_path):
    torch.manual_seed(0)
    decoder = Decoder(num_classes=3, digit_dim=4, image_shape=(1, 5, 6)).requires_grad_(False)
    for parameter in decoder.parameters():
        parameter *= 3  # so that pixels differ
    digits = Digits(torch.rand(4, 1, 5, 6), torch.tensor([2, 0, 1, 2]))
    capsules = torch.cat([torch.zeros(1, 4), torch.randn(3, 4)])
    file = tmp_path / "decoder.bin"
    file.write_bytes(tool.pack(decoder, capsules, digits))
    v_j = torch.zeros(4, 3, 4)
    v_j[torch.arange(4), digits.labels] = capsules
    pixels = decoder(mask_capsules(v_j, digits.labels)).flatten(1)
    assert pixels[1:].std() > 0.2
    assert worst(call, file, capsules, digits.labels, pixels) < 0.02
    [read] = call(["digit", "readDecoder", [{"bytes": str(file)}]])
    assert read["labels"] == digits.labels.tolist()
    same(read["capsules"], capsules)
    same(read["images"], digits.images.flatten(1), atol=0.002)


@starts_node
def test_the_sites_decoder_draws_as_pytorch_did_with_all_digits_of_its_weights(call):
    record = read_record("decoder_pixels")
    labels = torch.tensor(record["labels"])
    [read] = call(["digit", "readDecoder", [{"bytes": str(tool.FILE)}]])
    _, (images, truth) = sample_digits()
    assert read["labels"] == record["labels"] == truth[record["places"]].tolist() == [*range(10)]
    same(read["images"], images[record["places"]].flatten(1), atol=0.002)
    for row in record["rows"]:
        offsets = torch.tensor(row["offsets"])
        assert offsets.abs().max() <= tool.REACH
        pixels = torch.tensor([list(bytes.fromhex(text)) for text in row["pixels"]]) / 255
        capsules = torch.tensor(read["capsules"]) + offsets
        assert worst(call, tool.FILE, capsules, labels, pixels) < 0.02
    assert any(torch.tensor(row["offsets"]).any() for row in record["rows"])


@starts_node
def test_the_button_names_the_size_of_the_file_and_how_far_sliders_go(call):
    size = tool.FILE.stat().st_size
    assert size <= 1_500_000
    assert call(["digit", "MEGABYTES", []]) == [round(size / 1e6, 1)]
    assert f"const REACH = {tool.REACH};" in (SCRIPTS / "digit.js").read_text(encoding="utf-8")


def test_a_script_a_widget_and_all_are_small_and_load_nothing_from_elsewhere():
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}
    assert set(scripts) == {*WIDGETS, "widget"}
    assert sum(len(text.encode()) for text in scripts.values()) < 32_768
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in WIDGETS:
        assert f'define("capsnet-{name}"' in scripts[name]
        assert f"{{path: assets/widgets/{name}.js, type: module}}" in site
    hosts = re.findall(r"https?://[\w./]+", "".join(scripts.values()))
    assert set(hosts) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_is_its_picture_wherever_no_script_runs(name):
    picture = Picture(Figure(), "empty", alt="An empty sheet.")
    shown = show_widget(name, picture)
    data, metadata = shown._repr_mimebundle_()
    assert data == picture._repr_mimebundle_()[0]
    assert {"image/png", "image/svg+xml"} <= set(data)
    assert metadata["image/svg+xml"] == {
        "alt": "An empty sheet.",
        "needs_background": "light",
        "widget": name,
    }
    output = {"output_type": "execute_result", "data": data, "metadata": metadata}
    page = BeautifulSoup(notebooks.show_output(output, {}), "html.parser")
    assert page.find(f"capsnet-{name}").find("figure", role="img").svg
    assert "widget" not in picture._repr_mimebundle_()[1]["image/svg+xml"]


def test_an_unknown_widget_is_refused_by_name():
    with pytest.raises(ValueError, match=r"no widget 'squish': choose one of squash, routing"):
        show_widget("squish", Picture(Figure(), "empty", alt="An empty sheet."))
