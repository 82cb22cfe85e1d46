"""How colours look to people who see no red or no green, and how far apart they are then."""

import numpy as np

# Machado, Oliveira and Fernandes (2009), complete absence of one kind of cone; for linear RGB.
SEEN_BY = {
    "all cones": np.eye(3),
    "protanope": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranope": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = _XYZ.sum(axis=1)  # D65


def linear(colour):
    """Return the linear RGB of ``#rrggbb`` or ``rgb(r, g, b)``."""
    if colour.startswith("#"):
        parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    else:
        parts = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    shares = np.array(parts) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Return the contrast of two colours as WCAG defines it, 1 to 21."""
    dark, light = sorted(float(_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(colour, eye="all cones"):
    """Return L*, a*, b* of a colour as that eye sees it."""
    ratio = _XYZ @ np.clip(SEEN_BY[eye] @ linear(colour), 0, 1) / _WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, other, eye="all cones"):
    """Return how far apart two colours are for that eye, by CIEDE2000; 1 is just seen side by side."""
    return ciede2000(lab(one, eye), lab(other, eye))


def ciede2000(one, other):
    """Return ΔE00 of two colours in L*a*b*, in the notation of Sharma, Wu and Dalal (2005)."""
    (L1, a1, b1), (L2, a2, b2) = one, other
    C = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    G = 0.5 * (1 - np.sqrt(C**7 / (C**7 + 25.0**7)))
    C1, C2 = np.hypot((1 + G) * a1, b1), np.hypot((1 + G) * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, (1 + G) * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if C1 * C2 else 0.0
    dL, dC, dH = L2 - L1, C2 - C1, 2 * np.sqrt(C1 * C2) * np.sin(np.radians(turn / 2))
    L, C = (L1 + L2) / 2, (C1 + C2) / 2
    h = (h1 + turn / 2) % 360 if C1 * C2 else h1 + h2
    T = 1 - 0.17 * _cos(h - 30) + 0.24 * _cos(2 * h) + 0.32 * _cos(3 * h + 6) - 0.20 * _cos(4 * h - 63)
    S_L = 1 + 0.015 * (L - 50) ** 2 / np.sqrt(20 + (L - 50) ** 2)
    S_C, S_H = 1 + 0.045 * C, 1 + 0.015 * C * T
    R_C = 2 * np.sqrt(C**7 / (C**7 + 25.0**7))
    R_T = -np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2)))) * R_C
    l, c, t = dL / S_L, dC / S_C, dH / S_H  # noqa: E741
    return float(np.sqrt(l**2 + c**2 + t**2 + R_T * c * t))


def _cos(degrees):
    return np.cos(np.radians(degrees))
