"""The warnings that glcn raises on purpose. Errors are plain ``ValueError`` and ``TypeError``."""


class GraphCollapseWarning(UserWarning):
    """The learned graph ended as good as uniform: nothing was learned about the neighbours."""


class AsymmetricGraphWarning(UserWarning):
    """The given graph was not symmetric and was replaced by max(A, Aᵀ)."""


class TrainingInterruptedWarning(UserWarning):
    """Training was interrupted (Ctrl-C); the best weights so far were kept."""


class RestartedBuildWarning(UserWarning):
    """What was begun of a store was for another input or other settings, and is built anew."""


class LowMemoryWarning(UserWarning):
    """A fit may need more memory than there is."""


class CheckpointWarning(UserWarning):
    """The state of a training could not be written; training went on without."""


class ColdStartWarning(UserWarning):
    """``warm_start`` was asked for, and the weights of the last fit could not be kept."""
