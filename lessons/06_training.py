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
# # Training
#
# All parts are built: squashing, routing, two losses, and the network that joins them. What is left is to let it learn, and then to say how good it is without fooling anybody.
#
# ## Goal
#
# You will be able to train a capsule network, on a GPU or without one, follow its progress, say how often it errs and how sure you are of that, keep it in a file, and name six pitfalls, four of which give a wrong figure that looks right. This takes 30 minutes. You need [the lesson on the whole network](05_capsnet.ipynb).

# %%
from capsnet_tutorial import sample_digits
from capsnet_tutorial.plotting_training import digit_grid

digits, _ = sample_digits()
some = digits.images[::200]
names = [str(k) for k in digits.labels[::200].tolist()]
digit_grid(some, names, columns=10, what="Handwritten digits")

# %% [markdown]
# ## Which run this is
#
# The cells of this lesson are written once, and do one of three things.
#
# - On a computer with a CUDA GPU, they train the paper's full network on all of MNIST.
# - Without one, they train a small network on 3,500 digits, which takes less than two minutes on two cores.
# - Without one, but with MNIST's four files in a folder of your computer, as `MNIST/raw`, they train the small network on all of MNIST, which takes about three minutes on two cores. Set the environment variable `CAPSNET_DATA` to that folder, with its whole path, before you start Jupyter.
#
# One variable chooses: `device`, and with it the **recipe**, in which all choices lie. The right column says which run it shows.

# %%
import torch

from capsnet_tutorial.recipes import recipe_for

on_gpu = torch.cuda.is_available()
device = torch.device("cuda" if on_gpu else "cpu")
recipe = recipe_for(device)
print(f"This run: {device.type}")
print(recipe)

# %% [markdown]
# ## Idea: three piles of digits
#
# A network that has learned a digit by heart says nothing about digits that it hasn't seen. So the digits are dealt into three piles, once, before anything else happens.
#
# - The network **learns** from the first.
# - You **choose** by the second: how many epochs (passes over the first pile), which learning rate, whether to go on. It is called the **validation** set.
# - You **judge** by the third, the test set, once, when all choices are made.
#
# A student may take as many mock exams as she likes. The exam itself counts because she has not seen its questions.

# %%
from capsnet_tutorial.plotting_training import piles

train, validation, test = recipe.load()
counts = [len(pile.labels) for pile in (train, validation, test)]
names = ["to learn from", "to choose by", "to judge by, once"]
piles(dict(zip(names, counts, strict=True)))

# %% [markdown]
# ### Each digit moves a little
#
# A 4 is still a 4 two pixels to the left. Each time a digit comes up in training, it is moved by up to two pixels up or down, and by up to two to the left or right. What it leaves behind is filled with zeros. This is the paper's only **augmentation** (its Section 5): a way to make more digits out of those that there are.
#
# Here is one digit, and the first nine moves that it gets. Validation and test digits are never moved.

# %%
from capsnet_tutorial import random_shift

torch.manual_seed(0)
one = train.images[:1]
moved = random_shift(one.expand(9, -1, -1, -1))
captions = ["as it is"] + [f"move {k}" for k in range(1, 10)]
pictures = torch.cat([one, moved])
digit_grid(pictures, captions, 5, "A digit, shifted", framed=True)

# %%
from capsnet_tutorial.annotations import annotate

annotate(random_shift)

# %% [markdown]
# ## Code: one step
#
# Training is this step, many times. A batch of images goes through the network, and the loss says how wrong it was. `backward` finds out how the loss changes with each weight. The optimizer, Adam, moves each weight a little in the direction that lowers it. `predict_and_score` runs the network and takes the loss.
#
# The labels go into the network as well: in training, the decoder draws the digit from the capsule of the **true** class, as in [the lesson on reconstruction](04_reconstruction.ipynb).

# %%
from capsnet_tutorial import training

annotate(training.training_step)

# %% [markdown]
# ### One epoch
#
# An **epoch** is one pass over all digits to learn from. `batches` deals them out in a new random order, each image with a move of its own. With 1,000 digits and batches of 300, the last batch has 100.

# %%
annotate(training.batches)

# %%
some = training.Digits(train.images[:1000], train.labels[:1000])
generator = torch.Generator().manual_seed(0)
dealt = training.batches(some, 300, generator)
print("sizes:", [len(labels) for _, labels in dealt])

# %% [markdown]
# ### The loop
#
# An epoch takes a step for each batch, and lowers the learning rate after each step. `fit` runs this as often as the recipe says, and looks at the validation digits after each epoch. `state` holds what changes from step to step: the network, Adam, the learning rate's schedule and the random numbers.
#
# The sums of an epoch stay on the GPU until it ends. To read a number from a GPU means to wait until the GPU has caught up, so nothing is read at a step.

# %%
annotate(training.train_epoch)

# %% [markdown]
# ### Large steps first, small ones last
#
# The step's size is the **learning rate**. Large steps go far, and small ones arrive. So the rate falls from step to step, always by the same factor. With $\eta_0$ the first rate, $T$ the number of all steps and $\eta_t$ the rate after $t$ of them:
#
# $$
# \eta_t = \eta_0 \cdot 0.05^{\,t/T}
# $$
#
# After half of the steps it has fallen to 22% of the first, and at the end to 5%. The paper says that the rate decays exponentially, and not how fast. Our 5% was chosen on validation digits.

# %%
from capsnet_tutorial.training_state import FINAL_LEARNING_RATE

for done in (0, 0.5, 1):
    rate = recipe.learning_rate * FINAL_LEARNING_RATE**done
    print(f"{done:4.0%} of the steps done: {rate:.6f}")
assert FINAL_LEARNING_RATE == 0.05

# %% [markdown]
# ### Half precision
#
# A recent GPU multiplies far faster in bfloat16, a type with 16 bits. Unlike the float16 of lesson 1 it reaches as far as float32. It keeps only about three digits. **Mixed precision** uses it where that does no harm, in convolutions and matrix products. Squash, the softmax of routing and both losses are computed in float32. The weights are kept in float32, too.
#
# The GPU's recipe uses it. The small one doesn't, and this cell tries it on a few digits all the same.

# %%
from capsnet_tutorial import CapsNet, CapsNetConfig
from capsnet_tutorial.evaluation import predict_and_score

trial = CapsNet(CapsNetConfig.small())
few = train.images[:4], train.labels[:4]
with torch.autocast("cpu", torch.bfloat16):
    u = trial.primary(trial.conv(few[0]).relu())
    u_hat = trial.digit.predict(u)
_, loss = predict_and_score(trial, *few, True)
print("prediction vectors:", u_hat.dtype)
print("losses:            ", {term.dtype for term in loss})
print("weights:           ", trial.digit.weight.dtype)

# %% [markdown]
# ## Train it
#
# Now all of it. In Jupyter or a terminal, a bar shows how far it has come.
#
# The seed decides three things: the first weights, the order of the digits, and their moves. On a CPU, the same seed gives the same network to the last bit, on the same machine with the same version of PyTorch. On a GPU it needn't, since a GPU may add up in another order each time.

# %%
import time

from capsnet_tutorial import fit

seed = 0
torch.manual_seed(seed)
model = CapsNet(recipe.config).to(device)
began = time.perf_counter()
history = fit(model, train, validation, **recipe.options, seed=seed)
seconds = time.perf_counter() - began

# %% [markdown]
# What each epoch did: the margin loss, the reconstruction loss before its weight of 0.0005, and the total of both; then the total and the share of mistakes on the validation digits. With the two losses apart, you see which of them falls.

# %%
print("epoch  margin  recon.   loss | validation: loss  error")
step = max(1, len(history) // 10)
for e in history[::-step][::-1]:
    print(
        f"{e.epoch:5} {e.margin_loss:7.4f} {e.reconstruction_loss:7.1f}"
        f" {e.loss:6.4f} | {e.validation_loss:17.4f}"
        f" {1 - e.validation_accuracy:6.1%}"
    )
assert history[-1].validation_accuracy > 0.9

# %% [markdown]
# ### Charts
#
# Read them for trouble. If the loss doesn't fall at all, the learning rate is too large or too small. If the blue line goes on falling and the orange one turns up, the network learns its digits by heart.
#
# In a short run the orange line lies *below* the blue one, though the network never saw those digits. That is no surprise. The blue line is a mean over an epoch in which the network was still worse, and its digits were shifted.

# %%
from capsnet_tutorial.plotting_training import training_curves

training_curves(
    [e.loss for e in history],
    [e.validation_loss for e in history],
    [1 - e.accuracy for e in history],
    [1 - e.validation_accuracy for e in history],
)

# %% [markdown]
# ## The test, once
#
# No choice is left to make, so the third pile may be opened. We take the network as it is after the **last** epoch. (In the short run these are the 1,000 digits on which earlier lessons compared networks. This run's settings were not chosen by them.)
#
# The test digits are a sample, too. Other digits would have given another figure. A **95% interval** is a range made so that in 95 of 100 such tests it contains the error rate that the network has on all digits of this kind. Ours is Wilson's, which also works for very few mistakes. With no mistake at all on $n$ digits it ends at $3.84 / (n + 3.84)$; 3.84 is the square of 1.96, the number of standard deviations that hold 95%.

# %%
from capsnet_tutorial import evaluate
from capsnet_tutorial.intervals import wilson_interval

result = evaluate(model, test)
read_as = result.lengths.argmax(dim=1)
wrong = int((read_as != test.labels).sum())
total = len(test.labels)
low, high = wilson_interval(wrong, total)
print(f"{wrong} of {total:,} wrong: {wrong / total:.2%}")
print(f"95% interval: {low:.2%} to {high:.2%}")

# %% [markdown]
# ### Beside the paper
#
# Table 1 of the paper, test errors on MNIST in per cent:
#
# | Network | Error |
# |---|---|
# | convolutional baseline | 0.39 |
# | CapsNet, 1 iteration, no reconstruction | 0.34 ± 0.032 |
# | CapsNet, 1 iteration, reconstruction | 0.29 ± 0.011 |
# | CapsNet, 3 iterations, no reconstruction | 0.35 ± 0.036 |
# | CapsNet, 3 iterations, reconstruction | **0.25 ± 0.005** |
#
# The ± is the paper's. Those networks learned from 60,000 digits. The right column says what ours is. A small network that learned from a few thousand digits can't be compared with the table, and a figure without such a line beside it can't be compared with anything.
#
# Below it stand recorded runs on all of MNIST: the full network on a GPU, if somebody has made that run, and on a CPU, and the small network on a CPU. Only the full network's can be held against the table, and even it had few epochs, and 5,000 digits fewer to learn from. Its seconds on a CPU say little: the machine did other work meanwhile.

# %%
print(recipe)
print(f"{device.type}, torch {torch.__version__}, seed {seed}")
print("error in per cent, after the last epoch:")
print(f"{100 * wrong / total:.2f}", end=" ")
print(f"({100 * low:.2f} to {100 * high:.2f})")

# %%
from capsnet_tutorial.recipes import GPU_RECORD, describe_run
from capsnet_tutorial.records import find_record

names = {
    "full network, on a GPU": GPU_RECORD,
    "full network, on a CPU": "paper_on_mnist",
    "small network, on a CPU": "small_on_mnist",
}
for name, record in names.items():
    print(f"all of MNIST, {name}:")
    print(describe_run(find_record(record)), end="\n\n")

# %% [markdown]
# ### Which digits are taken for which
#
# In a **confusion matrix**, each row is a true class and each column is what it was read as. Right answers are on the diagonal. Look for a cell that stands out, and whether its mirror image does, too: then two classes look alike to the network.

# %%
from capsnet_tutorial.plotting_training import confusion

pairs = 10 * test.labels + read_as
matrix = torch.bincount(pairs, minlength=100).reshape(10, 10)
assert matrix.diagonal().sum() == total - wrong
confusion(matrix)

# %% [markdown]
# ### The worst mistakes
#
# A mistake is bad if the network was sure of it: the wrong capsule is long and the right one short. Here are the ten with the largest difference. Would you have read them?

# %%
lengths, labels = result.lengths, test.labels
right = lengths.gather(1, labels[:, None])[:, 0]
gap = lengths.max(dim=1).values - right
worst = gap.argsort(descending=True)[: min(10, wrong)]
captions = [f"{labels[k]}, read\nas {read_as[k]}" for k in worst]
digit_grid(
    test.images[worst], captions, columns=5, what="Worst mistakes"
)

# %% [markdown]
# ### What it draws
#
# Above, the first test digit of each class. Below, what the decoder makes of its longest capsule. Sixteen numbers are all that it gets, so what it draws is smoother than what was written, and blurred after a short training.

# %%
first = [(labels == k).nonzero()[0].item() for k in range(10)]
images = test.images[first]
with torch.no_grad():
    drawn = model(images.to(device)).reconstruction.cpu()
above = [str(k) for k in range(10)]
below = [str(k) for k in read_as[first].tolist()]
both = torch.cat([images, drawn])
digit_grid(both, above + below, 10, "Test digits, then drawn as")

# %% [markdown]
# ## Keep it
#
# A file that is to be of use later holds more than weights: the sizes of the network, how it was trained, and how it did. `save_checkpoint` writes tensors and plain values and no code. It writes a temporary file first and renames it at the end, so if it is interrupted the old file stays whole.

# %%
from pathlib import Path

from capsnet_tutorial import save_checkpoint

path = Path("runs") / f"lesson06-{device.type}.pt"
path.parent.mkdir(exist_ok=True)
epochs = [epoch._asdict() for epoch in history]
save_checkpoint(path, model, seed=seed, epochs=epochs, wrong=wrong)
print(f"written: {path.as_posix()}")

# %% [markdown]
# ### And read one picture
#
# Loading needs the file and nothing else. The network comes back on the CPU, wherever it was trained, and computes the same lengths, but for rounding.
#
# To read a digit of your own, make it what these are: ink is 1 and paper is 0, 28 by 28 pixels, the digit about 20 pixels high and in the middle.

# %%
from capsnet_tutorial import load_checkpoint
from capsnet_tutorial.plotting_training import one_prediction

loaded, extra = load_checkpoint(path)
with torch.no_grad():
    again = loaded(test.images[:1]).lengths[0]
assert torch.allclose(again, lengths[0], atol=0.01)
assert extra["epochs"][-1] == history[-1]._asdict()
one_prediction(test.images[0], again)

# %% [markdown]
# ## Pitfalls: six ways to fool yourself
#
# Four give a figure that looks right. One makes training worse, and one loses the network.
#
# ### Batches of unequal size
#
# Average the batches' accuracies, and an image in a short last batch counts for more than the others. Five digits, of which the last is read wrongly, in batches of four: the right answer is 80%.
#
# Ours weighs each batch by its size, so batches make no difference.

# %%
from capsnet_tutorial import mistakes

correct = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0])
print("mean over images:  ", round(correct.mean().item(), 2))
wrong_mean = mistakes.mean_of_batch_means(correct, batch_size=4)
print("mean over batches: ", wrong_mean)

by_300 = evaluate(model, validation, batch_size=300).accuracy
assert abs(by_300 - evaluate(model, validation).accuracy) < 0.001

# %% [markdown]
# ### The best epoch on the test digits
#
# Say that fifty epochs in a row are equally good: each errs on 0.40% of all digits. On 10,000 test digits, chance alone makes some look better. Report the best one, and you report your luck. (Epochs of one run err on mostly the same digits, so real luck is smaller than in this trial. It is still luck.)
#
# The test set was used fifty times here, and chose. To stop at the best epoch is allowed, if the validation digits choose it. We do the simplest thing: the last epoch counts.

# %%
generator = torch.Generator().manual_seed(0)
trials, rate = torch.full((50,), 10_000.0), torch.full((50,), 0.004)
counts = torch.binomial(trials, rate, generator=generator)
print("true error:  0.40%")
print(f"mean of 50:  {counts.mean() / 100:.2f}%")
print(f"best of 50:  {counts.min() / 100:.2f}%")
assert counts.min() < 35

# %% [markdown]
# ### A learning rate that listens to the test digits
#
# Some code lowers the learning rate when the loss on the test digits stops falling. It never learns from those digits, or so it seems.
#
# Here is a proof that it does. We train a tiny network twice, on the same 300 digits with the same seed. The second time, the *test* labels are all off by one. If the test digits had no influence, both networks would be the same.


# %%
def train_with(test_labels, by_test_loss):
    torch.manual_seed(0)
    net = CapsNet(CapsNetConfig.small(conv_channels=8))
    part = training.Digits(train.images[:300], train.labels[:300])
    held = training.Digits(validation.images[:100], test_labels)
    if by_test_loss:
        mistakes.fit_by_test_loss(net, part, held, epochs=8)
    else:
        fit(net, part, held, epochs=1, progress=False)
    return net.digit.weight


# %%
annotate(mistakes.fit_by_test_loss)


# %% [markdown]
# With the rate driven by the test loss, they are not. With ours, where the rate follows a plan made in advance, they are the same to the last bit. (For this trial, validation digits play the part of test digits.)

# %%
true = validation.labels[:100]
off_by_one = (true + 1) % 10
for by_test_loss in (True, False):
    first = train_with(true, by_test_loss)
    second = train_with(off_by_one, by_test_loss)
    name = "by test loss" if by_test_loss else "by a plan"
    print(f"{name:12}  same network: {first.equal(second)}")
    assert first.equal(second) != by_test_loss

# %% [markdown]
# ### One move for a whole batch
#
# It is easy to draw one random move and apply it to the batch. Then all images of a step move together, and the network sees one of 25 places at a time. This cell moves 25 copies of a digit and counts how many different pictures come out. With a move for each, some moves are met twice, so there are fewer than 25.

# %%
copies = train.images[:1].expand(25, -1, -1, -1)
draw = torch.Generator().manual_seed(0)
for move in (random_shift, mistakes.shift_whole_batch):
    moved = move(copies, 2, draw)
    different = len(moved.flatten(1).unique(dim=0))
    print(f"{move.__name__:18} {different:2} different pictures")

# %% [markdown]
# ### A loss printed as an error rate
#
# A loss is no share of anything. It is a sum of squares that happens to lie near 0. Printed as "100 minus loss" or with a per cent sign, it looks like an error rate.
#
# Take one digit of class 0, whose capsule has length 0.5, while that of class 1 has 0.45 and the others are short. It is read correctly. Its margin loss is $(0.9 - 0.5)^2 + 0.5\,(0.45 - 0.1)^2$.

# %%
from capsnet_tutorial import margin_loss

capsules = torch.zeros(1, 10, 16)
capsules[0, 0, 0], capsules[0, 1, 0] = 0.5, 0.45
loss = margin_loss(capsules, torch.tensor([0])).item()
print("errors:", 0, "of 1")
print(f"loss:   {loss:.3f}, wrongly printed as {loss:.0%}")
assert abs(loss - (0.4**2 + 0.5 * 0.35**2)) < 1e-6

# %% [markdown]
# ### A file that only its writer can read
#
# `torch.save(model)` stores the numbers, and only the *name* of the Python class and of the module that it is in. Move or rename the class, and the file is lost. To load it means to run what it says, which you should not do with a stranger's file. PyTorch refuses by default, and so does `load_checkpoint`: it takes tensors and plain values only.
#
# A relative of it: a file saved on a GPU that asks for a GPU when loaded. Ours takes the `device` that you name, and the CPU by default.

# %%
whole = path.with_name("whole.pt")
torch.save(model, whole)
try:
    load_checkpoint(whole)
except ValueError as error:
    print(str(error).replace("\\", "/"))
whole.unlink()

# %% [markdown]
# ## Check yourself
#
# **1.** One network makes 25 mistakes on 10,000 test digits, another one 35. Is the first one better?
#
# <details>
# <summary>Answer</summary>
#
# You can't tell from this. The two intervals overlap widely: 0.17% to 0.37%, and 0.25% to 0.49%. More training runs or more test digits would help. Both read the *same* digits, so a sharper test compares only the digits on which the two differ.
#
# </details>
#
# **2.** How many digits would a network have to read without a single mistake, until the interval ends below 0.1%?
#
# <details>
# <summary>Answer</summary>
#
# 3,838, about 4,000. Solve $3.84 / (n + 3.84) \lt 0.001$ for $n$.
#
# </details>
#
# **3.** Somebody shifts the test digits, too. What is wrong with that?
#
# <details>
# <summary>Answer</summary>
#
# It's no longer MNIST's test. The error is that of another, harder task, it changes with each random draw, and it can't be compared with published figures.
#
# </details>

# %%
for mistakes_made in (25, 35):
    ends = wilson_interval(mistakes_made, 10_000)
    print(mistakes_made, "wrong:", *(f"{end:.2%}" for end in ends))

z_squared = 1.96**2
n = next(
    n for n in range(1, 10_000) if z_squared < 0.001 * (n + z_squared)
)
print("digits without a mistake:", n)
assert wilson_interval(0, n)[1] < 0.001

# %% [markdown]
# **An exercise.** Somebody hands you the accuracy of each batch and the size of each batch. Write the accuracy over all images.
#
# Replace the line that starts with `return`, and run the cell until it prints `solved`. A solution comes next.
#
# <details>
# <summary>Hint</summary>
#
# How many images were read correctly in each batch?
#
# </details>


# %%
def over_all_images(accuracies, sizes):
    return accuracies.mean()  # your turn: batches count alike here


accuracies = torch.tensor([1.0, 0.5])
sizes = torch.tensor([4.0, 2.0])
answer = over_all_images(accuracies, sizes)
solved = torch.isclose(answer, torch.tensor(5 / 6))
print("solved" if solved else "not solved yet")

# %% [markdown]
# **A solution.** Accuracy times size is the number of images read correctly. Four of four and one of two make five of six.


# %%
def solution(accuracies, sizes):
    return (accuracies * sizes).sum() / sizes.sum()


assert torch.isclose(solution(accuracies, sizes), torch.tensor(5 / 6))
solution(accuracies, sizes)

# %% [markdown]
# ## How this differs from the paper
#
# - Without a GPU, nearly everything: a network with a quarter of the channels and primary capsules, and, unless `CAPSNET_DATA` is set, a seventeenth of the digits.
# - On a GPU, the network, the losses, Adam and the shifts are the paper's. The paper learns from all 60,000 training digits; we keep 5,000 of them aside.
# - The paper gives neither the length of training nor the constants of the decay. The authors' code takes 300,000 steps with 128 digits each, which is 640 epochs, and multiplies the rate by 0.96 every 2,000 steps. Our GPU recipe takes 50 epochs.
# - Mixed precision is ours.
# - An interval of ours says how much chance lies in the choice of test digits. It doesn't say what another seed would give. For that you have to train again.

# %% [markdown]
# ## Record a run
#
# On a GPU, this last cell writes what was trained, how, on what, and how each epoch went, to `results/lesson06-cuda.json`. The next time that this page is made, the figure appears under the paper's table. Without GPU nothing is written, unless you say `keep = True`.

# %%
from capsnet_tutorial.recipes import write_run

keep = device.type == "cuda"
figures = {"wrong": wrong, "total": total, "seconds": seconds}
if keep:
    made = {"seed": seed, "device": device}
    print("written:", write_run(recipe, history, **figures, **made))
else:
    print("nothing recorded: this run was made without a GPU")

# %% [markdown]
# ## Summary
#
# - Learn from one pile of digits, choose by a second, judge by a third, once.
# - A step: predict, take the loss, go back, move the weights. The rate falls by a plan made in advance.
# - Report the last epoch, its count of mistakes, and an interval; and beside it network, digits, seed, device and versions.
# - A loss is not an error rate, and the best of many tries on the test digits is not a result.
#
# This was the last lesson. From here on, change something: the number of routing iterations, the weight of the reconstruction, the size of the network. Choose by the second pile.
