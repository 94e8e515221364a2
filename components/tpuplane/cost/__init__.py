"""The cost of a plan by Google's list prices on record. Pure: no Pulumi, no network, no clock.

Each name of `__init__.pyi` is imported on first use: the policies need the rates, and no plan.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
