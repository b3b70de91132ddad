# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The whole network
#
# Squashing, routing, the margin loss and the decoder are four parts. Two convolutions in front of them make a network that reads digits.
#
# The picture is drawn from a run. One digit went through the paper's network step by step, and the shape of each tensor was written down.
#
# ## Goal
#
# You will be able to say what every tensor in the network holds, count its weights on paper, find a mistake that shapes and accuracy hide, and test that your own network is wired correctly. This takes 30 minutes. You need [the lesson on routing](02_routing.ipynb) and [the one on squashing](01_squashing.ipynb). [Margin loss](03_margin.ipynb) and [reconstruction](04_reconstruction.ipynb) appear at the end.

# %%
import torch

from capsnet_tutorial import CapsNet, plotting_capsnet, sample_digits

torch.manual_seed(0)
model, digits = CapsNet(), sample_digits()[0]
steps = {"image": digits.images[:1]}
steps["features"] = model.conv(steps["image"]).relu()
steps["primary capsules"] = u = model.primary(steps["features"])
steps["digit capsules"] = v = model.digit(u)
steps["drawn image"] = model.decode(v)
plotting_capsnet.architecture({k: x[0].shape for k, x in steps.items()})

# %% [markdown]
# ## Idea: from strokes to parts to digits
#
# Read the picture from top to bottom.
#
# - A first **convolution** is there to find strokes. It slides a window of 9×9 pixels over the image, and 256 filters answer at each place.
# - A second convolution is there to make parts out of strokes. Its answers are bundled into arrows: these are the **primary capsules**, the first capsules in the network.
# - Every primary capsule makes a guess about every digit. **Routing** finds the digits on which the guesses agree: ten **digit capsules**.
# - The longest digit capsule is the answer. The **decoder** draws the image again from that one capsule.
#
# Ten lengths come out, one for each digit. This network has learned nothing yet, so all of them are short.

# %%
from capsnet_tutorial import lengths

torch.set_printoptions(precision=3, sci_mode=False)
print("a", digits.labels[0].item(), "gives the lengths")
print(lengths(v)[0].detach())

# %% [markdown]
# ## Code: the parts in three lines
#
# Here is the network's own `forward`. The first half refuses images that it can't read. The work is in the last three lines: `primary` ends in a squash (lesson 1), `digit` routes (lesson 2), and `decode` masks and draws (lesson 4). The margin loss (lesson 3) comes after it.

# %%
from capsnet_tutorial.annotations import annotate

annotate(CapsNet.forward)

# %% [markdown]
# ### Every tensor's shape
#
# A **hook** is a function that PyTorch calls whenever a module has run. This one notes the shape of what came out. The batch has 3 images, so the first number is always 3.
#
# In the table, 1152 is 32 × 6 × 6: that many primary capsules, of 8 numbers each.

# %%
from functools import partial

shapes = {}


def note(name, module, inputs, output):
    shapes[name] = tuple(output.shape)


# %%
parts = ("conv", "primary.conv", "primary", "digit", "decoder")
hooks = [
    model.get_submodule(name).register_forward_hook(partial(note, name))
    for name in parts
]
output = model(digits.images[:3])
for hook in hooks:
    hook.remove()
for name, shape in shapes.items():
    print(f"{name:13} {shape}")

# %%
for name, tensor in output._asdict().items():
    print(f"{name:15} {tuple(tensor.shape)}")

# %% [markdown]
# ### Where 20 and 6 come from
#
# A window of 9 pixels in a row of 28 has 28 − 9 + 1 = 20 places to stand.
#
# The second convolution moves its window by 2 at a time, which is called a **stride** of 2. In a row of 20 it first stands at 0, then at 2, 4, 6, 8 and 10. That makes 6 places.
#
# Nothing is padded, so windows never hang over the edge.

# %%
side = 28 - 9 + 1
places = list(range(0, side - 9 + 1, 2))
print(side, "and then", len(places), "places:", places)

assert shapes["conv"][2:] == (side, side)
assert shapes["primary.conv"][2:] == (len(places), len(places))

# %% [markdown]
# ## Primary capsules: which eight numbers are one capsule?
#
# The second convolution returns 256 channels on a grid of 6×6. They are read as 32 **types** of 8 channels. One capsule is the 8 channels of one type at **one** place (Section 4 of the paper).
#
# That makes sense: all 8 numbers look at the same 17×17 pixels of the image, so together they can describe what is there. After this step a capsule says: *a part of this type is at this place, and this is what it looks like*.
#
# `rearrange`, from the package einops, says it in letters: `t` is the type, `n` the number in the capsule, `y` the row and `x` the column. The axis `t n` is 32 types times 8 numbers. After the arrow, `n` is last: it is what a capsule is made of.

# %%
from capsnet_tutorial import PrimaryCaps

annotate(PrimaryCaps)

# %% [markdown]
# ### Numbers that tell where they are from
#
# Do not take the pattern's word for it. Replace the convolution's output by numbers that spell their own place: channel × 100 + row × 10 + column. So 1523 is channel 15, row 2, column 3.
#
# Capsules are counted by type, then row, then column. Type 1 at row 2, column 3 is number 1 × 36 + 2 × 6 + 3. It should hold channels 8 to 15, all of them at row 2 and column 3. It does.

# %%
channel = torch.arange(256)[:, None, None]
row, column = torch.arange(6)[:, None], torch.arange(6)
numbers = channel * 100 + row * 10 + column

by_place = model.primary.group(numbers[None].float())[0].int()
capsule = by_place[1 * 36 + 2 * 6 + 3]
assert capsule.tolist() == [100 * k + 23 for k in range(8, 16)]
print(*capsule.tolist())

# %% [markdown]
# ### A mistake that the shapes hide
#
# It is tempting to write `reshape(batch, -1, 8)`, or `view`. The shape is the same: 1152 capsules of 8 numbers. But a bare view cuts memory into pieces of eight as it lies, and memory holds one channel after the other, row by row.
#
# So a capsule becomes eight **neighbouring pixels of one channel**: here six from row 0 and two from row 1. Of fifteen public implementations that we read, four do this.

# %%
from capsnet_tutorial import mistakes

annotate(mistakes.primary_by_view)

# %%
by_view = mistakes.primary_by_view(numbers[None].float())[0].int()
assert by_view.shape == by_place.shape
print("by place:", *[f"{x:03}" for x in by_place[0].tolist()])
print("by view: ", *[f"{x:03}" for x in by_view[0].tolist()])

# %% [markdown]
# ## Picture: what one capsule covers
#
# Both are capsule number 0. Each grid is one channel of type 0, numbered below.
#
# By type and place, the capsule goes through all eight channels at one place. By a bare view, it lies in channel 0 and spreads over two rows. Such a capsule is no description of a place. It is eight answers of one filter.

# %%
from capsnet_tutorial.plotting_capsnet import capsule_cover


def places_of(capsule):
    where = (capsule // 100, capsule // 10 % 10, capsule % 10)
    return torch.stack(where, dim=1)


ways = {"by type and place": by_place, "by a bare view": by_view}
covers = {name: places_of(way[0]) for name, way in ways.items()}
capsule_cover(covers, channels=8, grid=(6, 6))

# %% [markdown]
# ### What the mistake costs
#
# We trained the small network in both ways: three passes over 4,000 digits, judged on 1,000 others, with three seeds.
#
# **The bare view costs no accuracy here.** In each of the three runs it was even right on two to five digits more, too few to mean anything. Presumably the layers around it learn other features.
#
# So the accuracy does not show you this mistake. What it costs is the meaning: the type of a capsule, its place, and all that is said about parts and wholes. Only a test with numbered channels tells the two apart.

# %%
from capsnet_tutorial.records import read_record

record = read_record("primary_grouping")
for entry in record["rows"]:
    scores = "  ".join(f"{a:.1%}" for a in entry["accuracies"])
    print(f"{entry['grouping']:15} {scores}")
print(f"seeds {record['seed']}, {record['epochs']} epochs")
print(f"{record['device']}, torch {record['torch']}")
print(record["data"])

# %% [markdown]
# ## Digit capsules: every guess in one line
#
# Each pair of a primary capsule $i$ and a digit $j$ has a matrix $W_{ij}$ of its own (the paper's Equation 2). It turns the capsule's 8 numbers into a guess of 16:
#
# $$
# \hat{u}_{j|i} = W_{ij}\, u_i
# $$
#
# | Symbol | Meaning | Axes | Size |
# |---|---|---|---|
# | $u_i$ | primary capsules | `b i n` | batch, 1152, 8 |
# | $W_{ij}$ | matrices | `i j m n` | 1152, 10, 16, 8 |
# | $\hat{u}_{j\vert i}$ | guesses | `b i j m` | batch, 1152, 10, 16 |
#
# The `einsum` reads: multiply where the letters match, and sum over `n`, the letter that is missing after the arrow. The layer's `forward` hands the guesses to routing. How large the numbers in $W$ start, the last part of the note, is taken up [further down](#How-large-W-starts).

# %%
from capsnet_tutorial import DigitCaps

annotate(DigitCaps)

# %%
u_hat = model.digit.predict(u)
by_hand = model.digit.weight[700, 4] @ u[0, 700]
assert torch.allclose(u_hat[0, 700, 4], by_hand, atol=1e-6)

# %% [markdown]
# ### The running example, one step earlier
#
# The lessons before this one started from six guesses, two children times three parents. Now we can say where they come from. Let the children be $u_0 = (1, 0)$ and $u_1 = (0, 1)$. (A squashed capsule is a little shorter than 1; never mind.) A matrix times $(1, 0)$ is the matrix's first column, and times $(0, 1)$ its second. So write the guesses into those columns.
#
# Routing then does what it did before: parent 0, on which both agree, comes out longest.

# %%
from_first = [[1.0, 0.2], [0.9, 0.9], [0.1, 0.0]]
from_second = [[0.9, 0.3], [-0.9, -0.8], [0.0, 0.1]]
example = DigitCaps(num_below=2, dim_below=2, num_above=3, dim_above=2)
with torch.no_grad():
    example.weight.zero_()
    example.weight[0, :, :, 0] = torch.tensor(from_first)
    example.weight[1, :, :, 1] = torch.tensor(from_second)
children = torch.eye(2)[None]
guesses = torch.tensor([from_first, from_second])
assert example.predict(children)[0].equal(guesses)
print(lengths(example(children))[0].detach())

# %% [markdown]
# ### Do not repeat W for every image
#
# All images share the matrices. Code without `einsum` may repeat $W$ for each image of the batch, to multiply the two. For 100 images, that copy is eight times the size of the guesses themselves.
#
# Why eight? Per image, $W$ has 16 × 8 numbers for a pair where $\hat{u}$ has 16. In training the copy is also kept until the gradients are done.

# %%
batch, number_bytes = 100, 4
mib = number_bytes / 2**20
one_w, one_u_hat = model.digit.weight.numel(), u_hat[0].numel()
print(f"W, once               {one_w * mib:6.1f} MiB")
print(f"W, for {batch} images    {batch * one_w * mib:6.1f} MiB")
print(f"u_hat, for {batch} images{batch * one_u_hat * mib:6.1f} MiB")
assert one_w == 8 * one_u_hat

# %% [markdown]
# ## Count the weights
#
# A convolution has one weight for each pixel of its window, each channel below and each filter, and one **bias** for each filter. A fully connected layer has one weight for each pair of numbers, and one bias for each number above.
#
# The digit capsules have matrices and nothing else. Do the sums on paper before you look: the first is 256 × (9 × 9 + 1).

# %%
weights = {
    "conv": 256 * (1 * 9 * 9 + 1),
    "primary": 256 * (256 * 9 * 9 + 1),
    "digit": 1152 * 10 * (16 * 8),
    "decoder": 512 * (160 + 1) + 1024 * (512 + 1) + 784 * (1024 + 1),
}
for name, count in weights.items():
    module = model.get_submodule(name)
    assert count == sum(p.numel() for p in module.parameters())
    print(f"{name:8} {count:10,}")

# %% [markdown]
# The paper gives 8.2 million weights with the decoder and 6.8 million without it. The sums agree.
#
# Nearly two thirds of all weights are in the primary capsules' convolution.

# %%
total = sum(weights.values())
print(f"with the decoder    {total:,}")
print(f"without the decoder {total - weights['decoder']:,}")

assert total == 8_215_568
assert total - weights["decoder"] == 6_804_224
assert weights["decoder"] == 1_411_344

# %% [markdown]
# ## Where the work is
#
# Weights are not work. A convolution uses each of its weights again at every place, the capsules' matrices are used once for each image. So count **multiplications**, for one image.
#
# - A convolution: its weights without biases, times the places.
# - Digit capsules: one for each number in $W$. Then routing: three weighted sums and two rounds of agreement, each with one for each number in $\hat{u}$.
# - Decoder: its weights without biases.

# %%
inner_weights = 160 * 512 + 512 * 1024 + 1024 * 784
work = {
    "conv": 256 * (1 * 9 * 9) * 20 * 20,
    "primary": 256 * (256 * 9 * 9) * 6 * 6,
    "digit": 1152 * 10 * (16 * 8) + (3 + 2) * 1152 * 10 * 16,
    "decoder": inner_weights,
}
for name, count in work.items():
    print(f"{name:8} {count:12,} {count / sum(work.values()):6.1%}")

# %% [markdown]
# PyTorch can count for itself, operation by operation. It counts each multiplication and its addition as two, and it leaves out squash, ReLU and softmax, which are small. Its counts are exactly ours.

# %%
from torch.utils.flop_counter import FlopCounterMode

with FlopCounterMode(display=False) as counter, torch.no_grad():
    model(digits.images[:1])
for name, count in work.items():
    counted = counter.get_flop_counts()[f"CapsNet.{name}"]
    assert sum(counted.values()) == 2 * count
print("the four counts agree")

# %% [markdown]
# **94% of the multiplications are in one convolution**, and it isn't the first one. Capsule networks are said to be slow because of routing. By this count, routing is half a percent of the work.
#
# Operations are not seconds, though. Routing does little with each number that it fetches from memory, so its share of the time can be much larger than its share of the operations. But whoever wants a cheaper network has to start with the convolution: with 64 channels and 8 types in place of 256 and 32, as in our small network, it does a sixteenth of the work.

# %%
from capsnet_tutorial.plotting_capsnet import weights_and_work

names = {"conv": "first convolution", "primary": "primary capsules"}
names |= {"digit": "digit capsules", "decoder": "decoder"}
routing_share = 5 * 1152 * 10 * 16 / sum(work.values())
print(f"routing alone: {routing_share:.1%} of the multiplications")
weights_and_work(
    {name: (weights[key], work[key]) for key, name in names.items()}
)

# %% [markdown]
# ## Other images
#
# Nothing is fixed to 28×28 grey pixels. `CapsNetConfig` holds the sizes, and the rest is computed from them. Three colours change the first convolution and the decoder only. Larger images give more places, and so more primary capsules and more matrices.
#
# The small network is the one that we train on a CPU: a quarter of the channels and of the types.

# %%
from capsnet_tutorial import CapsNetConfig

paper, small = CapsNetConfig(), CapsNetConfig.small()
colour = CapsNetConfig(image_shape=(3, 32, 32))
large = CapsNetConfig(image_shape=(1, 36, 36))
print("network  image        grid    primary capsules")
networks = {"paper": paper, "small": small}
networks |= {"colour": colour, "large": large}
for name, config in networks.items():
    size, grid = config.image_shape, config.grid_shape
    print(f"{name:8} {size!s:12} {grid!s:7} {config.num_primary:8,}")
assert (colour.num_primary, large.num_primary) == (2048, 3200)

# %% [markdown]
# ### Too small
#
# 17 pixels a side are the least: 17 − 9 + 1 = 9, so the second window fits exactly once. A smaller image is refused when the network is described, not in the middle of a run.

# %%
smallest = CapsNetConfig(image_shape=(1, 17, 17))
print("17 pixels:", smallest.num_primary, "primary capsules")

try:
    CapsNetConfig(image_shape=(1, 28, 16))
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# ## How large W starts
#
# The paper doesn't say how large the first numbers in $W$ are. It matters. We draw them from a normal distribution around 0, and only its width, the **standard deviation** $\sigma$, is left to choose.
#
# Think of one parent before training. With $J$ parents each coupling is $1/J$, so the parent's input is $s_j = \frac{1}{J} \sum_i W_{ij} u_i$: a sum of $I$ random vectors of $m$ numbers. Each number of $W_{ij} u_i$ is itself a sum of random weights times the numbers of $u_i$. Its mean square is $\sigma^2 \lVert u_i \rVert^2$, and the whole vector's is $m$ times that. When random vectors are added, their mean *squared* lengths add up. So the mean squared length of $s_j$ is
#
# $$
# \frac{\sigma^2\, m\, I}{J^2} \;\times\; \text{mean of } \lVert u_i \rVert^2
# $$
#
# The more children, the longer the sum. To keep it the same for all sizes, choose the $\sigma$ that makes the factor a constant, $g^2$:
#
# $$
# \sigma = \frac{g\, J}{\sqrt{I\, m}}
# $$
#
# It falls with the root of the number of children $I$. Our $g$ is 1.5. The cell measures the factor on 20 digits: it should be near 1.5 squared, 2.25. One draw of $W$ isn't exactly the mean.

# %%
some = digits.images[::200]
with torch.no_grad():
    u = model.primary(model.conv(some).relu())
    s_j = model.digit.predict(u).sum(dim=1) / 10
measured = (lengths(s_j) ** 2).mean() / (lengths(u) ** 2).mean()
print(f"factor: {measured:.2f}")
assert 1.5 < measured < 3

sigma = 1.5 * 10 / (1152 * 16) ** 0.5
print(f"sigma:  {sigma:.4f}")
assert abs(model.digit.weight.std() - sigma) < 0.001

# %% [markdown]
# So the digit capsules start short, but not too short. Recall from [the first lesson](01_squashing.ipynb) that squash is flat at both ends: there a capsule learns hardly at all. Here are both sizes of network, on 20 sample digits and with one seed. The last column is the slope of squash at the mean length. At its steepest squash has 0.65.

# %%
for name, config in {"small": small, "paper": paper}.items():
    torch.manual_seed(0)
    with torch.no_grad():
        start = CapsNet(config)(some).lengths
    mean = start.mean()
    before = (mean / (1 - mean)).sqrt()  # the length before squash
    slope = 2 * before / (1 + before**2) ** 2
    print(
        f"{name}: mean {mean:.3f}, longest {start.max():.3f}", end=", "
    )
    print(f"slope {slope:.2f}")
    assert 0.01 < mean < 0.06

# %% [markdown]
# ### One width for all sizes
#
# What if $\sigma$ is a fixed number? This cell takes the primary capsules of the paper's network, and keeps 1, 2, 4 and so on of the 32 types. Nothing else changes.
#
# With $\sigma = 1$, capsules start far up once there are many below. With $\sigma = 0.01$ they start near nothing. With our rule the line stays nearly level. [The lesson on routing](02_routing.ipynb) shows what a bad start costs in training.

# %%
from capsnet_tutorial.plotting_decades import first_lengths

counts = [36 * 2**k for k in range(6)]
starts = {"always 1": [], "our rule": [], "always 0.01": []}
for count in counts:
    layer = DigitCaps(count, 8, 10, 16).requires_grad_(False)
    ours = layer.weight.clone()
    choices = (ours / ours.std(), ours, ours / ours.std() / 100)
    for means, first in zip(starts.values(), choices, strict=True):
        layer.weight.copy_(first)
        means.append(lengths(layer(u[:, :count])).mean().item())
first_lengths(counts, starts)

# %% [markdown]
# ## Three properties to test
#
# Each of these holds for a correctly built network before it has learned anything. Of the fifteen implementations, three fail the first one, and nine have a squash that fails the last.
#
# - **A batch equals its items one by one.** No image may depend on its neighbours.
# - **The order of the images doesn't matter.** If they are swapped, so are the answers.
# - **A black image gives finite numbers**, and finite gradients. The cell sets the biases to zero as well, so that every capsule is exactly zero: the worst case. Its loss is 0.81 for a capsule that should be long, and about 0.0005 × 196 for a grey drawing of nothing.

# %%
torch.manual_seed(0)
model = CapsNet(small)
x, y = digits.images[::200], digits.labels[::200]
with torch.no_grad():
    together = model(x).capsules
    alone = torch.cat([model(one[None]).capsules for one in x])
    swapped = model(x.flip(0)).capsules

assert torch.allclose(together, alone, atol=1e-5)
assert torch.allclose(together, swapped.flip(0), atol=1e-5)
print("batch of one:", tuple(model(x[:1]).capsules.shape))

# %%
from capsnet_tutorial import capsnet_loss

for layer in (model.conv, model.primary.conv):
    torch.nn.init.zeros_(layer.bias)
black = torch.zeros(1, 1, 28, 28)
output = model(black, y[:1])
loss = capsnet_loss(output, black, y[:1])
loss.total.backward()
assert (output.lengths == 0).all()
assert all(p.grad.isfinite().all() for p in model.parameters())
print(f"black image: loss {loss.total.item():.3f}, all finite")
assert abs(loss.total.item() - (0.81 + 0.0005 * 196)) < 0.01

# %% [markdown]
# ## Learn one batch by heart
#
# Does it learn? Before a long training, try the shortest one: give the network 20 digits, two of each class, again and again, until it knows them by heart. If the loss doesn't come close to 0, something is wired wrongly or the learning rate is off, and a longer training would not help.
#
# The loss has two terms (the paper's Sections 3 and 4.1). The [margin loss](03_margin.ipynb) wants the right capsule long and the others short. The [reconstruction loss](04_reconstruction.ipynb) is the sum of the squared errors of all pixels, and counts only 0.0005 of its size. The labels go into the network too: they choose which capsule draws.

# %%
annotate(capsnet_loss)

# %%
torch.manual_seed(0)
model = CapsNet(small)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
history = []
for _ in range(100):
    loss = capsnet_loss(model(x, y), x, y)
    optimizer.zero_grad()
    loss.total.backward()
    optimizer.step()
    history.append([term.item() for term in loss])

# %%
print("step   total  margin  reconstruction")
for step in (0, 20, 40, 60, 99):
    total, margin, reconstruction = history[step]
    print(f"{step:4} {total:7.4f} {margin:7.4f} {reconstruction:15.1f}")

# %% [markdown]
# The margin loss is gone after some 40 steps: all 20 digits are known. The reconstruction goes on falling, and it has much further to go. It must write down 20 images, pixel by pixel. (In the first steps the margin loss leaves the chart at the top: as in lesson 3, the first step makes all ten capsules long.)
#
# At the first step the margin loss is nearly nine times the weighted reconstruction. That is what the small weight is for.

# %%
from capsnet_tutorial.plotting_decades import loss_terms

_, margin, reconstruction = torch.tensor(history).T.tolist()
weighted = [0.0005 * value for value in reconstruction]
assert margin[-1] < 1e-4
assert weighted[-1] < weighted[0] / 10
loss_terms({"margin": margin, "0.0005 × reconstruction": weighted})

# %% [markdown]
# Five of the digits as they are, and below them as the network draws them, each from the 16 numbers of one capsule. It had only the image this time, no labels: the longest capsule drew.

# %%
from capsnet_tutorial.plotting_training import digit_grid

with torch.no_grad():
    output = model(x)
assert output.lengths.argmax(dim=1).equal(y)
rows = torch.cat([x[::4], output.reconstruction[::4]])
captions = [f"a {k}" for k in y[::4]] + ["drawn"] * 5
digit_grid(rows, captions, 5, "Five digits, and as they are drawn")

# %% [markdown]
# ### What this does not show
#
# By heart is not understood. Make every label one too high, and 0 for a 9, so that all labels are wrong: the network learns those just as well. Success shows that gradients reach the weights, and no more. How well a network reads digits that it hasn't seen is the next lesson's subject.

# %%
torch.manual_seed(0)
model, wrong = CapsNet(small), (y + 1) % 10
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(40):
    loss = capsnet_loss(model(x, wrong), x, wrong)
    optimizer.zero_grad()
    loss.total.backward()
    optimizer.step()
learned = (model(x).lengths.argmax(dim=1) == wrong).float().mean()
print(f"{learned:.0%} of the wrong labels learned")
assert learned == 1

# %% [markdown]
# ## Pitfalls
#
# - **A bare view** in the primary capsules: the shapes fit, and the accuracy doesn't tell. Test with numbered channels.
# - **$W$ copied for every image**: eight times the guesses' memory.
# - **One width of $W$ for all sizes**: it fits one size of network, and starts another near 0 or near 1.
# - **A ReLU before the squash** of the primary capsules: some implementations have it. Then no number of a capsule is ever negative, and all arrows point into one corner of space. Of the $2^8 = 256$ combinations of signs, one is left.
# - **Bytes in place of intensities**: the network refuses integers, because a sigmoid never draws a 255.

# %%
torch.manual_seed(0)
model = CapsNet(small)
with torch.no_grad():
    u = model.primary(model.conv(x).relu())
print(f"{(u < 0).float().mean():.0%} of the numbers are negative")

try:
    model((x * 255).to(torch.uint8))
except TypeError as error:
    print("TypeError:", error)

# %% [markdown]
# ## Check yourself
#
# **1.** An image has 20×20 pixels. How many places do the primary capsules have, and how many capsules of 32 types are there?
#
# <details>
# <summary>Answer</summary>
#
# The first window has 20 − 9 + 1 = 12 places in a row. The second stands at 0 and 2 of these: 2 places. That makes 2 × 2 places and 128 capsules.
#
# </details>
#
# **2.** An image has three colours in place of one, and the same size. Which parts of the network get more weights?
#
# <details>
# <summary>Answer</summary>
#
# The first convolution, which sees the colours, and the decoder, which draws them. Two more channels cost the convolution 2 × 81 × 256 = 41,472 weights. The decoder pays more: 1,025 for each of the 2 × 784 numbers that it draws in addition, together 1,607,200.
#
# </details>
#
# **3.** The batch gets twice as large. Which of $u$, $W$ and $\hat{u}$ grow?
#
# <details>
# <summary>Answer</summary>
#
# $u$ and $\hat{u}$ double. $W$ stays: all images share it.
#
# </details>

# %%
tiny = CapsNetConfig(image_shape=(1, 20, 20))
print(tiny.grid_shape, tiny.num_primary)


def count(shape):
    network = CapsNet(CapsNetConfig(image_shape=shape))
    parts = (network.conv, network.decoder)
    return [sum(p.numel() for p in part.parameters()) for part in parts]


grey, colours = count((1, 28, 28)), count((3, 28, 28))
print([more - less for more, less in zip(colours, grey, strict=True)])

# %% [markdown]
# **An exercise.** Group the channels without `rearrange`. You get `channels` with the axes batch, channel, row, column. Return capsules with the axes batch, capsule, number, in the order type, row, column.
#
# Replace the line that starts with `return`, and run the cell until it prints `solved`. A solution comes next.
#
# <details>
# <summary>Hint</summary>
#
# First split the channels' axis into types and numbers: `unflatten(1, (types, 8))`. Then move the numbers' axis to the end. Then flatten what is between.
#
# </details>


# %%
def my_group(channels, types=32):
    return channels.reshape(len(channels), -1, 8)  # your turn


mine = my_group(numbers[None])[0]
solved = torch.equal(mine.int(), by_place)
print("solved" if solved else "not solved yet")

# %% [markdown]
# **A solution.** `unflatten` gives the axes batch, type, number, row, column. After `movedim` the number is last.


# %%
def solution(channels, types=32):
    split = channels.unflatten(1, (types, 8))
    return split.movedim(2, -1).flatten(1, 3)


assert torch.equal(solution(numbers[None])[0].int(), by_place)
print(solution(numbers[None])[0, 51].tolist())

# %% [markdown]
# ## How this differs from the paper
#
# - The paper doesn't say how weights start. Ours start by PyTorch's default in the convolutions and the decoder, and by the rule above in $W$.
# - The authors' own code adds a bias to each number of a digit capsule, 160 in all. The paper's text has none, and neither have we.
# - The same code divides the primary convolution's output by 32. We don't.
# - The paper's network has fixed sizes for each data set. Ours computes them from the image.
# - Without labels our decoder draws the longest capsule. The paper describes the mask by the true label, which is there in training only.
#
# The sizes, the steps and the number of weights are the paper's.

# %% [markdown]
# ## Summary
#
# - Two convolutions, capsules by type and place, guesses, routing, and a decoder: 8,215,568 weights.
# - A primary capsule is the 8 channels of one type at **one** place. A bare view is something else, and only a test shows it.
# - All guesses are one `einsum`, and our code never copies $W$.
# - The width of $W$ falls with the root of the number of capsules below.
# - 94% of the multiplications are in the primary capsules' convolution.
# - Before any long training: test that a batch equals its items, that black is harmless, and that 20 digits can be learned by heart.
#
# **Next**: [training](06_training.ipynb), where the network meets digits that it hasn't seen.
