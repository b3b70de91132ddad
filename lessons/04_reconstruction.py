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
# # Reconstruction
#
# [The margin loss](03_margin.ipynb) asks one thing of a capsule: its length. Nothing so far asks that its direction say what the digit looks like. A second loss does. From the 16 numbers of one capsule, a small network has to draw the digit again.
#
# ## Goal
#
# You will be able to choose the capsule that draws, weigh the drawing against the margin loss, read off what a number in a capsule stands for, and name four ways to make this loss useless. This takes 30 minutes. You need the lessons on [routing](02_routing.ipynb) and on the margin loss.

# %%
from capsnet_tutorial import sample_digits
from capsnet_tutorial.plotting_reconstruction import bottleneck

train, held_out = sample_digits()
bottleneck(held_out.images[0])

# %% [markdown]
# ## Idea: sixteen numbers must be enough
#
# Say you describe a handwritten digit on the phone, and your friend draws it. You may say sixteen numbers. Soon you would agree on what they mean: how far the digit leans, how wide it is, how thick the stroke. You wouldn't waste one on the dust in a corner.
#
# A capsule is put in the same place. The friend is called the **decoder**. Where the drawing differs from the digit, both learn: the decoder to draw better, and the layers below the capsule to say more useful numbers. The paper uses this as a **regulariser**: an extra demand that keeps a network from learning its training digits by heart.
#
# We train a small network on 4,000 digits, which takes about a minute on two cores. How training works is the subject of [its own lesson](06_training.ipynb). `augment="none"` says that the digits aren't moved about in training. The last column says how far the drawings are off: squared errors, summed over the pixels, as explained below. The settings were chosen on digits set aside from the 4,000.

# %%
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, fit

recipe = {"epochs": 8, "batch_size": 25, "learning_rate": 2e-3}
torch.manual_seed(0)
model = CapsNet(CapsNetConfig.small())
history = fit(model, train, **recipe, augment="none", progress=False)
print("epoch  error in training  squared error of drawings")
for e in history:
    error = 1 - e.accuracy
    print(f"{e.epoch:5} {error:18.1%} {e.reconstruction_loss:26.1f}")

# %% [markdown]
# ### What it draws
#
# Above is the first digit of each class among 1,000 that it hasn't seen. Below is what the decoder made of the true class's capsule. The number is the squared error: 0 would be the same picture.
#
# In the data ink is 1 and paper is 0. Our pictures show ink in blue on a light ground.
#
# The drawings are soft, as if seen through frosted glass. Where the decoder isn't sure if there is ink, half ink is the safest bet. But the leaning 1 leans, and the wide 2 is wide. That much got through sixteen numbers. Not all did: the 4 comes out more like a 9, and the 3 like an 8.

# %%
from capsnet_tutorial.plotting_reconstruction import picture_rows

images, labels = held_out
with torch.no_grad():
    capsules, lengths, by_guess = model(images)
    by_label = model.decode(capsules, labels)
errors = (by_label - images).square().flatten(1).sum(dim=1)
first = [int((labels == k).nonzero()[0]) for k in range(10)]
rows = {"digit": images[first], "drawn": by_label[first]}
numbers = [f"{x:.0f}" for x in errors[first].tolist()]
picture_rows(rows, numbers, "Digits and drawings, squared errors")

# %% [markdown]
# ### One capsule draws
#
# There are ten digit capsules, and each has something to say about every image. Only one may speak to the decoder. The others are set to zero before it listens. This is called **masking**.
#
# Here are the ten capsules of one 4. A row is a capsule, and each cell is one of its numbers: blue above zero, orange below, pale near zero. The long capsule stands out. On the right is what the decoder gets.
#
# Masking has a second use. The decoder knows the class by *where* the numbers stand. So no number needs to be spent on saying which digit it is, and all sixteen can say what it looks like.

# %%
from capsnet_tutorial import mask_capsules
from capsnet_tutorial.plotting_reconstruction import capsule_table

four = first[4]
masked = mask_capsules(capsules[[four]], labels[[four]])[0]
names = ("all ten capsules", "masked")
capsule_table(capsules[four], masked, names)

# %% [markdown]
# ## By hand: three capsules and four pixels
#
# The running example has three parents. In the lesson on routing they came out as on the right. Which one may draw? There are two answers.
#
# - **By label.** Somebody told us the true class. Say it is class 2. Keep that row, and set rows 0 and 1 to zero, however long they are.
# - **By prediction.** Nobody told us. Keep the longest. That is row 0.

# %%
from capsnet_tutorial import reference

from_first = [[1.0, 0.2], [0.9, 0.9], [0.1, 0.0]]
from_second = [[0.9, 0.3], [-0.9, -0.8], [0.0, 0.1]]
v_j, _ = reference.dynamic_routing([from_first, from_second])
for k, v in enumerate(v_j):
    x, y = v
    print(f"{k}: ({x:.3f}, {y:.3f})", end="  ")
    print(f"length {reference.length(v):.3f}")


# %%
def show(rows):
    return [tuple(round(x, 3) for x in row) for row in rows]


print("by label 2:   ", show(reference.mask_capsules(v_j, 2)))
print("by prediction:", show(reference.mask_capsules(v_j)))

# %% [markdown]
# Now the error, on a picture of two by two pixels. The true picture is ink, paper, paper, ink: 1, 0, 0, 1. The decoder drew 0.9, 0.2, 0 and 0.6. The differences are 0.1, 0.2, 0 and 0.4, and their squares are 0.01, 0.04, 0 and 0.16.
#
# The paper takes the **sum** of the squares: 0.21. Many programs take the **mean**: 0.0525, a quarter. On four pixels the two differ by a factor of 4. On 28 by 28 pixels it is a factor of 784.

# %%
drawn, pixels = [0.9, 0.2, 0.0, 0.6], [1.0, 0.0, 0.0, 1.0]
total = reference.reconstruction_loss(drawn, pixels)
print(f"sum:  {total:.2f}")
print(f"mean: {total / len(pixels):.4f}")

# %% [markdown]
# ## Math
#
# Masking multiplies each capsule by 1 or 0. In training, $t$ is the true class; without labels it is the longest capsule:
#
# $$
# \tilde{v}_k = \begin{cases} v_k & \text{if } k = t \\ 0 & \text{otherwise} \end{cases}
# $$
#
# The loss of one image joins [the margin losses](03_margin.ipynb) $L_k$ and the squared error over all pixels (the paper's Section 4.1):
#
# $$
# L = \sum_k L_k + 0.0005 \sum_p (\hat{x}_p - x_p)^2
# $$
#
# | Symbol | Meaning | Shape |
# |---|---|---|
# | $v_k$ | the capsule of class $k$ | $m = 16$ numbers |
# | $t$ | the class whose capsule is kept | a whole number |
# | $\tilde{v}_k$ | the capsule, masked | $m$ numbers |
# | $x_p$ | pixel $p$ of the image, 0 to 1 | one number |
# | $\hat{x}_p$ | the same pixel as drawn, 0 to 1 | one number |
#
# Why so small a weight? On the right are both parts for an untrained network and for ours. At first the squared error is hundreds of times the margin loss, because 784 pixels add up. With the weight it is the smaller part in both cases, and the margin loss leads.

# %%
from capsnet_tutorial import capsnet_loss
from capsnet_tutorial.reconstruction import RECONSTRUCTION_WEIGHT

torch.manual_seed(1)
untrained = CapsNet(CapsNetConfig.small())
print("            margin  squared error  weighted")
for name, net in (("untrained", untrained), ("trained", model)):
    with torch.no_grad():
        out = net(images, labels)
    _, margin, squared = capsnet_loss(out, images, labels)
    weighted = RECONSTRUCTION_WEIGHT * squared
    print(f"{name:10} {margin:7.3f} {squared:14.1f} {weighted:9.4f}")

# %% [markdown]
# ## Code: loops, then all at once
#
# The plain version in [`reference`](../capsnet_tutorial/reference.py) masks one image with a loop over its capsules. Without a label it looks for the longest one.

# %%
from capsnet_tutorial.annotations import annotate

annotate(reference.mask_capsules)

# %% [markdown]
# The module [`reconstruction`](../capsnet_tutorial/reconstruction.py) does it for a batch. Most of it refuses what doesn't fit: a floating-point label, a class that isn't there. The last two lines do the work. For each image, `kept` is true at exactly one class.

# %%
annotate(mask_capsules)

# %% [markdown]
# The loss takes its sum over the pixels, and refuses targets that no drawing can reach.

# %%
from capsnet_tutorial import reconstruction_loss

annotate(reconstruction_loss)

# %% [markdown]
# Do both agree, by label and by prediction? And do the two losses? As in every lesson, `assert` would stop the page if they didn't.

# %%
some = capsules[:50]
for chosen in (labels[:50], None):
    each = [None] * 50 if chosen is None else chosen.tolist()
    loops = map(reference.mask_capsules, some.tolist(), each)
    assert mask_capsules(some, chosen).equal(torch.tensor([*loops]))
pairs = (x[:50].flatten(1).tolist() for x in (by_label, images))
sums = map(reference.reconstruction_loss, *pairs)
loss = reconstruction_loss(by_label[:50], images[:50]).item()
assert abs(loss - sum(sums) / 50) < 1e-3
print(f"both agree: {loss:.2f} on average over 50 images")

# %% [markdown]
# ### The decoder
#
# Three layers (the paper's Figure 2). `Flatten` lays the ten capsules end to end: 160 numbers, of which 144 are zero. A sigmoid at the end keeps each drawn pixel between 0 and 1.
#
# It is a large part of the network: 1.4 of the paper's 8.2 million parameters. But it is only there to teach. A trained network classifies without it.

# %%
from capsnet_tutorial import Decoder

annotate(Decoder)

# %%
decoder = Decoder(num_classes=10, digit_dim=16, image_shape=(1, 28, 28))
count = sum(p.numel() for p in decoder.parameters())
assert count == 1_411_344
print(f"{count:,} parameters")

# %% [markdown]
# ### Label in training, prediction afterwards
#
# Whatever is masked gets no gradient from the drawing: a drawing can only teach the capsule that made it. So in training the **label** must choose. Then the capsule of class 3 learns from the threes, whatever the network believes today.
#
# Once there is no label, the **prediction** chooses. That is the case for every digit that somebody writes tomorrow. `model(images)` does this, and `model(images, labels)` does the other.
#
# Take the three capsules from above, where the prediction, 0, is wrong and the label is 2. Let a decoder draw from them, and ask which capsule gets a gradient.

# %%
torch.manual_seed(0)
tiny = Decoder(num_classes=3, digit_dim=2, image_shape=(1, 2, 2))
target = torch.tensor(pixels).reshape(1, 1, 2, 2)
for name, label in (("label 2", torch.tensor([2])), ("guess", None)):
    v = torch.tensor([v_j], requires_grad=True)
    loss = reconstruction_loss(tiny(mask_capsules(v, label)), target)
    loss.backward()
    taught = v.grad.abs().sum(dim=2)[0] > 0
    print(f"masked by {name:8} capsules taught: {taught.tolist()}")

# %% [markdown]
# ## Picture: right and wrong ones
#
# On new digits the prediction draws, and so the drawing shows what the network took the digit for. Here are the first eight of those that it misreads among 1,000. The second row is drawn by the capsule that won, the third by the one that should have.
#
# Look at the second row with the network's eyes. It has good reasons for many of its mistakes.

# %%
guesses = lengths.argmax(dim=1)
missed = (guesses != labels).nonzero()[:, 0]
m = missed[:8]
rows = {
    "digit": images[m],
    "drawn as\nguessed": by_guess[m],
    "drawn as\nlabelled": by_label[m],
}
captions = [f"{labels[k]}\nas {guesses[k]}" for k in m]
picture_rows(rows, captions, "Misread digits, drawn in two ways")

# %% [markdown]
# The squared error agrees. On digits that were read correctly, there is only one drawing. On misread ones both drawings are worse than that, and on average the wrong class's capsule draws the digit *better* than the true one's. Often a misread digit simply looks like something else.

# %%
right = guesses == labels
other = (by_guess - images).square().flatten(1).sum(dim=1)
print(f"read correctly: {right.sum():3} digits,", end=" ")
print(f"squared error {errors[right].mean():.1f}")
print(f"misread:        {len(missed):3} digits")
print(f"  drawn as labelled: {errors[missed].mean():14.1f}")
print(f"  drawn as guessed:  {other[missed].mean():14.1f}")
assert other[missed].mean() < errors[missed].mean()

# %% [markdown]
# ### One number at a time
#
# What do the sixteen numbers mean? Nobody told the network. But we can ask it, as the paper does in Figure 4. Take the capsule of one digit, an 8. Add something to one of its numbers, from −0.25 to 0.25 in steps of 0.05, leave the others as they are, and let the decoder draw. Each number, or **dimension**, gives a row of eleven pictures.
#
# The next cell draws them. `moved` holds 16 times 11 copies of the ten capsules.

# %%
digit = 8
eights = labels == digit
v = capsules[eights & right][0]
offsets = 0.05 * torch.arange(-5, 6)
moved = v.repeat(16, 11, 1, 1)
for k in range(16):
    moved[k, :, digit, k] += offsets
with torch.no_grad():
    flat = moved.flatten(0, 1)
    pictures = model.decode(flat, torch.full((len(flat),), digit))
pictures = pictures.unflatten(0, (16, 11))

# %%
from capsnet_tutorial.plotting_reconstruction import perturbations

perturbations(pictures, offsets.tolist(), digit)

# %% [markdown]
# **What is seen.** Several rows lean the 8, most clearly rows 3 and 13: in row 3 it starts upright and ends slanted, in row 13 the other way round. Row 9 makes it narrow, and row 6 wide. Row 4 does two things at once: a thin, slanted 8 becomes an upright, wide one. Row 2 changes hardly anything. No row changes the stroke's thickness alone. At the ends of a row a number may stand where no real 8 has it.
#
# Which row does what is chance. Another seed, or a processor that rounds differently, deals the properties out anew. On your computer the rows may have changed places.

# %% [markdown]
# ### Does one of them measure slant?
#
# An eye finds what it looks for, so let us measure. How far does a digit lean? Treat its ink as weight, and fit a line to it. With $x$ to the right and $y$ upwards:
#
# $$
# \text{slant} = \frac{\operatorname{cov}(x, y)}{\operatorname{var}(y)}
# $$
#
# (cov and var are covariance and variance, weighted by ink.) That is how many pixels the digit moves to the right for each pixel upwards. A slash has slant 1, an upright stroke 0. The module [`measures`](../capsnet_tutorial/measures.py) has it, and `width` beside it: how far the ink spreads sideways once the slant is taken out.

# %%
from capsnet_tutorial.measures import correlation, ink, slant, width

slash = torch.eye(5).flip(1).reshape(1, 1, 5, 5)
print("a slash:", slant(slash).item())
print("the 8 that was moved:", end=" ")
own = images[eights & right][:1]
print(f"slant {slant(own).item():.2f}", end=", ")
print(f"width {width(own).item():.1f} pixels")

# %% [markdown]
# Now the question: over all eights, does one dimension go with the slant? The **correlation** is 1 or −1 if the dots lie on a line, and 0 if a line says nothing.
#
# With sixteen dimensions, one would look good by chance. So we choose the dimension on the eights to learn from, and report its correlation on the 100 eights held out.

# %%
with torch.no_grad():
    learned = train.images[train.labels == digit]
    numbers = model(learned).capsules[:, digit]
    fits = correlation(numbers, slant(learned)[:, None])
best = fits.abs().argmax().item()
x, y = capsules[eights][:, digit, best], slant(images[eights])
r = correlation(x, y).item()
print(f"dimension {best} goes with slant: {r:.2f} on new eights")
assert abs(r) > 0.5

# %%
from capsnet_tutorial.plotting_reconstruction import scatter

scatter(x, y, (f"dimension {best} of the capsule", "slant"), r)

# %% [markdown]
# Going together isn't yet causing. So look at the drawings once more: when this dimension alone is moved, the drawn 8 should lean. It does: compare the first and the last slant. (Unmoved, the drawing leans only half as far as the digit itself. It is soft in this, too.)
#
# Is this "the slant dimension"? Not quite. Others go with slant as well, as the first line shows, and this one changes the width on its way. Nobody asked the network to give each property a number of its own, and it didn't.

# %%
ranked = correlation(capsules[eights][:, digit], y[:, None]).abs()
print(
    "three strongest, without sign:",
    ranked.sort(descending=True).values[:3],
)
print(f"\ndimension {best} moved by   -0.25   0.00   0.25")
for measure in (slant, width, ink):
    values = measure(pictures[best])[[0, 5, 10]].tolist()
    print(f"{measure.__name__:20}", *(f"{x:6.2f}" for x in values))
ends = slant(pictures[best])
assert (ends[-1] - ends[0]) * r > 0

# %% [markdown]
# ### Move it yourself
#
# On the site, the picture that this cell draws is live: choose a digit, move all sixteen numbers, and a decoder draws in your browser. It was trained as above, and its weights are rounded to 8 bits. In Jupyter the picture stands still and shows the three rows whose number goes closest with the slant.

# %%
from capsnet_tutorial.widgets import show_widget

closest = fits.abs().topk(3).indices.tolist()
rows = {f"row {k}": pictures[k, ::2] for k in closest}
steps = [f"{x:+.2f}".replace("-", "−") for x in offsets[::2].tolist()]
picture = picture_rows(rows, steps, "An 8, drawn as one number moves")
show_widget("digit", picture)

# %% [markdown]
# ## Pitfalls: four ways to waste it
#
# ### The mean for the sum
#
# PyTorch's `MSELoss` averages over the pixels unless told otherwise. With 784 pixels and the paper's weight of 0.0005, the reconstruction loss then weighs 1/784 of what it should. Of fifteen public implementations that we read, five do this.
#
# To mend it, sum. Or weigh the mean with 0.392, which is 784 times 0.0005, in place of 0.0005. Several others do just that.
#
# How much of the capsules' gradient is left? This cell takes it on 100 digits, from the trained network. The last line is the one before it, divided by 784.

# %%
from capsnet_tutorial import margin_loss, mistakes

batch, truth = train.images[::40], train.labels[::40]
v = model(batch).capsules.detach().requires_grad_()
drawn = model.decode(v, truth)
ours = reconstruction_loss(drawn, batch)
wrong = mistakes.reconstruction_mean(drawn, batch)
terms = {"margin loss": margin_loss(v, truth)}
terms |= {"sum": 5e-4 * ours, "mean": 5e-4 * wrong}
for name, term in terms.items():
    (g,) = torch.autograd.grad(term, v, retain_graph=True)
    print(f"{name:12} {g.norm():.1e}")

# %% [markdown]
# ### What it does to the pictures
#
# This run was recorded: the small network, trained once as at the top of this page, and three times with one thing changed, all with one seed. *Sum* is as here, and *mean* takes the mean for the sum. *Guess* is the sum, masked by prediction. *No decoder* has the margin loss alone.
#
# Look at the mistakes first: 24 to 27 in a thousand. At this size and with one seed, they say nothing about which way is better. The drawings do differ. With the mean, their squared error on new digits is 40; with the sum it is 30.
#
# What is an error of 40 worth? The last cell compares it with no drawing at all: for each digit, it takes the mean of all training digits of its class. That gives 41. So with the mean in the loss, a capsule says hardly more than its class.

# %%
from capsnet_tutorial.records import read_record

record = read_record("drawing")
print("trained with     error on new digits   squared error")
for row in record["rows"]:
    misread = " ".join(f"{1 - x:5.1%}" for x in row["accuracies"])
    sse = " ".join(f"{x:4.1f}" for x in row["sse"])
    print(f"{row['variant']:14} {misread:>20}   {sse}")
print(f"seeds {record['seed']}, {record['epochs']} epochs")
print(record["data"])
print(f"{record['device']}, torch {record['torch']}")

# %%
from capsnet_tutorial.thumbnails import unpack_images

kept = {row["variant"]: row.get("pictures") for row in record["rows"]}
rows = {"digit": images[first]} | {
    f"by the\n{name}": unpack_images(kept[name])
    for name in ("sum", "mean", "guess")
}
picture_rows(rows, what="Digits, drawn by networks trained in 3 ways")

# %%
typical = [
    train.images[train.labels == k].mean(dim=0) for k in range(10)
]
typical = torch.stack(typical)[labels]
of_class = reconstruction_loss(typical, images).item()
print(f"always the mean of the class: {of_class:.1f}")
by_mean = record["rows"][1]["sse"][0]
print(f"trained with the mean:        {by_mean:.1f}")
assert abs(by_mean - of_class) < 3

# %% [markdown]
# ### The guess for the label
#
# Five of the fifteen mask by prediction in training, too. At the start, the guess is mostly wrong. Then a capsule of another class learns to draw this digit, and the true one learns nothing from it.
#
# Here is the untrained network, shown one digit of each class. The lines say which capsule would learn to draw it when the label masks, and when the guess does.
#
# In the recorded run the guess soon becomes right, and the final drawings are about as good. So the mistake costs little on easy digits. It teaches the wrong capsule on exactly those digits that the network misreads.

# %%
some, truth = train.images[::400], train.labels[::400]
for name, label in (("label", truth), ("guess", None)):
    v = untrained(some).capsules.detach().requires_grad_()
    reconstruction_loss(untrained.decode(v, label), some).backward()
    taught = v.grad.norm(dim=2).argmax(dim=1)
    print(f"by {name}: {taught.tolist()}")

early = next(r for r in record["rows"] if r["variant"] == "guess")
share = sum(early["first_epoch_wrong"]) / len(record["seed"])
print(f"wrong in the first epoch: {share:.0%} (recorded run)")

# %% [markdown]
# ### Targets that no drawing can reach
#
# It is a habit to normalise images: subtract the mean, divide by the spread. As an *input* that does no harm. But the decoder ends in a sigmoid, and its drawing stays between 0 and 1. A normalised digit runs from −0.4 to 2.8.
#
# The best that such a decoder can do is to draw 0 for every pixel below 0, and 1 for every pixel above 1. Five of the fifteen train against this floor. It is about seven times what you get on pixels from 0 to 1 by drawing the mean of all digits every time.


# %%
def floor(targets):
    best = targets.clamp(0, 1)
    return (best - targets).square().flatten(1).sum(dim=1).mean()


mean, std = train.images.mean(), train.images.std()
normal = (images - mean) / std
average = train.images.mean(dim=0).expand_as(images)
print(f"targets from {normal.min():.1f} to {normal.max():.1f}")
print(f"best possible, normalised:   {floor(normal):6.1f}")
print("always the mean, in [0, 1]:  ", end="")
print(f"{reconstruction_loss(average, images):6.1f}")

# %% [markdown]
# ### Pixels from 0 to 255
#
# The same, only worse: every ink pixel asks for up to 255 and gets 1. One published series of articles does this. The error that can't be removed is then in the millions, and outweighs the margin loss even after its weight.
#
# Ours refuses both kinds of target, in a sentence.

# %%
print(f"best possible on bytes: {floor(255 * images):,.0f}")
for targets in (normal, 255 * images):
    try:
        reconstruction_loss(by_label, targets)
    except ValueError as error:
        print(str(error).replace(": ", ":\n  "))

# %% [markdown]
# ## Check yourself
#
# **1.** A decoder draws every pixel as 0.5. The image has only full ink and bare paper. What is its squared error?
#
# <details>
# <summary>Answer</summary>
#
# 196: a quarter for each of 784 pixels.
#
# </details>
#
# **2.** Images are 36 by 36 pixels. By what must you multiply the mean to get the paper's weighted sum?
#
# <details>
# <summary>Answer</summary>
#
# By 0.648. There are 1,296 pixels, and 1,296 times 0.0005 is 0.648.
#
# </details>
#
# **3.** Two digits lie on top of each other. How do you draw each of them?
#
# <details>
# <summary>Answer</summary>
#
# One after the other. Mask for the first digit and draw, then mask for the second and draw. The paper does so for its overlapping digits.
#
# </details>

# %%
grey = torch.full((1, 1, 28, 28), 0.5)
black_and_white = (images[:1] > 0.5).float()
print(reconstruction_loss(grey, black_and_white).item())

print(f"{36 * 36 * RECONSTRUCTION_WEIGHT:.3f}")

both = [mask_capsules(capsules[:1], torch.tensor([k])) for k in (3, 8)]
print([(b != 0).any(dim=2).nonzero()[:, 1].tolist() for b in both])

# %% [markdown]
# **An exercise.** Write masking by label as one multiplication. `one_hot(labels, 3)` gives a row for each image, with a 1 at its class and 0 elsewhere.
#
# Replace the line that starts with `return`, and run the cell until it prints `solved`. A solution comes next.
#
# <details>
# <summary>Hint</summary>
#
# The row has the axes `b k`, and the capsules have `b k m`. One axis is missing at the end.
#
# </details>


# %%
from torch.nn.functional import one_hot


def mask_by_product(v, labels):
    return v  # your turn: nothing is masked yet


example, label = torch.tensor([v_j]), torch.tensor([1])
mine = mask_by_product(example, label)
solved = torch.equal(mine, mask_capsules(example, label))
print("solved" if solved else "not solved yet")

# %% [markdown]
# **A solution.** It has one weakness: zero times NaN is NaN, so a broken capsule gets through the mask. Ours puts zeros in its place.


# %%
def solution(v, labels):
    return v * one_hot(labels, v.shape[1])[:, :, None]


assert solution(example, label).equal(mask_capsules(example, label))
broken = torch.tensor([[[float("nan"), 0.0], [0.6, 0.2]]])
print("product:", solution(broken, label).tolist())
print("ours:   ", mask_capsules(broken, label).tolist())

# %% [markdown]
# ## How this differs from the paper
#
# - Masking, decoder, sum and weight are the paper's.
# - The paper's error falls from 0.35% to 0.25% with reconstruction and three routing iterations, and from 0.34% to 0.29% with one (Table 1), on 60,000 digits. Our record shows no such gain: with 4,000 digits and one seed, the networks with and without decoder differ by two mistakes in 1,000.
# - The paper's Figure 4 names scale and thickness, a local part, stroke thickness, local skew, width and translation; some of its dimensions mix two, as ours do. It comes from the full network, trained far longer. Our rows mix such properties more, and the drawings are softer.
# - In the authors' own code the margin loss is divided by 20. Reconstruction weighs twenty times as much there as in the paper's text.

# %% [markdown]
# ## Summary
#
# - A decoder draws the digit from one capsule. So the capsule's direction learns to say what the digit looks like.
# - The label masks in training, the longest capsule when there is no label. A masked capsule learns nothing from the drawing; the margin loss still teaches its length.
# - The squared errors are **summed** over the pixels, and weighted by 0.0005.
# - Pixels and drawings both lie between 0 and 1.
# - Move one number of a capsule, and the drawing leans, widens or narrows.
#
# **Next**: [the whole network](05_capsnet.ipynb), from image to loss.
