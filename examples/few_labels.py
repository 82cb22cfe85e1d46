"""Classify 1797 handwritten digits from ten labels of each: learn, look at the graph, predict new rows."""

import numpy as np
from sklearn.datasets import load_digits

from glcn import GLCNClassifier

X, y = load_digits(return_X_y=True)
X = X / 16
random = np.random.default_rng(0)
seen, new = np.arange(1500), np.arange(1500, 1797)

labels = np.full(1500, -1)  # -1: no label
for digit in range(10):
    shown = random.choice(np.flatnonzero(y[seen] == digit), 10, replace=False)
    labels[shown] = digit

clf = GLCNClassifier(random_state=0).fit(X[seen], labels)
unlabelled = labels == -1
print(f"unlabelled rows right: {(clf.transduction_ == y[seen])[unlabelled].mean():.1%}")
print(f"new rows right:        {(clf.predict(X[new]) == y[new]).mean():.1%}")
print(f"learned graph:         {clf.graph_report_.describe()}")
print(f"strongest neighbour of row 0: {clf.graph_[[0]].toarray().ravel()[1:].argmax() + 1}")
