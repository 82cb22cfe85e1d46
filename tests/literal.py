"""The paper's formulas as literal loops over rows and columns. Nothing here uses code of the package."""

from math import exp, log


def embedding(x, P):
    n, p, d = len(x), len(P), len(P[0])
    return [[sum(x[i][q] * P[q][k] for q in range(p)) for k in range(d)] for i in range(n)]


def score(h_i, h_j, a):
    """aᵀ|h_i − h_j|."""
    return sum(a_k * abs(x - y) for a_k, x, y in zip(a, h_i, h_j, strict=True))


def learned_graph(h, a, A, sign):
    """S_ij = A_ij exp(±ReLU(aᵀ|h_i − h_j|)) / Σ_j …, a dense list of lists."""
    n = len(h)
    S = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            S[i][j] = A[i][j] * exp(sign * max(0.0, score(h[i], h[j], a)))
        total = sum(S[i])
        S[i] = [s / total for s in S[i]]
    return S


def smoothness(S, h):
    n, d = len(h), len(h[0])
    return sum(S[i][j] * sum((h[i][k] - h[j][k]) ** 2 for k in range(d)) for i in range(n) for j in range(n))


def trace_smoothness(S, h):
    """tr(hᵀ (I − S) h)."""
    n, d = len(h), len(h[0])
    return sum(
        h[i][k] * ((1.0 if i == j else 0.0) - S[i][j]) * h[j][k] for k in range(d) for i in range(n) for j in range(n)
    )


def squared_norm(S):
    return sum(s * s for row in S for s in row)


def squared_distance(S, A):
    return sum((s - a) ** 2 for S_i, A_i in zip(S, A, strict=True) for s, a in zip(S_i, A_i, strict=True))


def matmul(M, N):
    return [[sum(m * N[k][j] for k, m in enumerate(row)) for j in range(len(N[0]))] for row in M]


def network(x, S, weights):
    """softmax(S relu(S … relu(S X W⁰) …) W^K)."""
    for layer, W in enumerate(weights):
        x = matmul(matmul(S, x), W)
        if layer + 1 < len(weights):
            x = [[max(0.0, value) for value in row] for row in x]
    Z = []
    for row in x:
        mass = [exp(value - max(row)) for value in row]
        Z.append([m / sum(mass) for m in mass])
    return Z


def cross_entropy(Z, labels, rows):
    return -sum(log(Z[i][labels[i]]) for i in rows)


def link_weights(h, a, b, A):
    """w_ij = A_ij exp(−ReLU(aᵀ|h_i − h_j|)) between different rows, w_ii = A_ii e^b."""
    n = len(h)
    W = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            W[i][j] = A[i][j] * (exp(b) if i == j else exp(-max(0.0, score(h[i], h[j], a))))
    return W


def symmetrically_normalized(W):
    """D^-½ W D^-½."""
    degree = [sum(row) for row in W]
    return [[w / (degree[i] * degree[j]) ** 0.5 for j, w in enumerate(row)] for i, row in enumerate(W)]


def mean_of_hops(S, X, hops):
    """1/(K+1) Σ_k S^k X."""
    total, power = [row[:] for row in X], X
    for _ in range(hops):
        power = matmul(S, power)
        total = [[t + p for t, p in zip(T_i, P_i, strict=True)] for T_i, P_i in zip(total, power, strict=True)]
    return [[t / (hops + 1) for t in row] for row in total]


def perceptron(H, b0, W1, b1):
    """softmax(ReLU(H + b⁰) W¹ + b¹)."""
    hidden = [[max(0.0, h + b) for h, b in zip(row, b0, strict=True)] for row in H]
    out = [[o + b for o, b in zip(row, b1, strict=True)] for row in matmul(hidden, W1)]
    return [[exp(o) / sum(exp(other) for other in row) for o in row] for row in out]


def sharpened(p, temperature):
    """p_c^(1/T) / Σ p^(1/T) of each row."""
    powers = [[value ** (1 / temperature) for value in row] for row in p]
    return [[value / sum(row) for value in row] for row in powers]


def estimated_labels(p, temperature):
    """Sharpened, with half of the shift of the class shares undone."""
    q, n = sharpened(p, temperature), len(p)
    u = [(sum(row[c] for row in p) / n) ** 0.5 / (sum(row[c] for row in q) / n) ** 0.5 for c in range(len(p[0]))]
    weighted = [[value * u_c for value, u_c in zip(row, u, strict=True)] for row in q]
    return [[value / sum(row) for value in row] for row in weighted]
