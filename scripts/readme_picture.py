"""Draw the picture of the README: the papers of Cora, as their words lie and as the network sees them.

python scripts/readme_picture.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.manifold import TSNE

from glcn import GLCNClassifier
from glcn.datasets import load

TARGET = Path(__file__).parents[1] / "docs/images/cora.png"
# Okabe and Ito's palette, safe for colour-blind readers.
COLOURS = np.array(["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#444444"])


def main() -> None:
    """Fit Cora and draw two t-SNE maps side by side."""
    data = load("cora", split="released")
    clf = GLCNClassifier(random_state=0)
    clf.fit(data.X, data.visible_labels, graph=data.graph, validation=data.validation)
    right = (clf.transduction_ == data.y)[data.test].mean()
    words = TruncatedSVD(50, random_state=0).fit_transform(data.X)
    beliefs = np.log(np.maximum(clf.label_distributions_, 1e-12))
    maps = [TSNE(random_state=0, perplexity=40).fit_transform(rows) for rows in (words, beliefs)]

    figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    titles = [
        f"2708 papers by their words; the {len(data.train)} with a label are large",
        f"the same papers after learning: {right:.0%} of {len(data.test)} test papers right",
    ]
    for axes, points, title in zip(panels, maps, titles, strict=True):
        axes.scatter(*points.T, s=4, color=COLOURS[data.y], alpha=0.55, linewidth=0)
        known = points[data.train]
        axes.scatter(*known.T, s=26, color=COLOURS[data.y[data.train]], edgecolor="black", linewidth=0.7)
        axes.set_title(title, fontsize=10)
        axes.set_axis_off()
    handles = [plt.Line2D([], [], marker="o", linestyle="", color=colour) for colour in COLOURS]
    names = [name.replace("_", " ") for name in data.class_names]
    figure.legend(handles, names, loc="outside lower center", ncols=7, fontsize=8, frameon=False, handletextpad=0.1)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(TARGET, dpi=110)
    print(f"{TARGET.name}: {right:.1%} of the test papers right")


if __name__ == "__main__":
    main()
