"""TPU slices, node pools and platforms on GKE.

Each name of `__init__.pyi` is imported on first use. So the command line, the policies and the twin can use the
catalogue, the spec and the plan, which are pure, without the import of Pulumi and its providers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
