"""The description of a platform that a user writes, checked before any resource changes. Pure: no Pulumi, no network.

`parse_platform` reads plain values (the program's config), `load_stack` a stack file (the command line): the same
models and the same messages in both. All mistakes of a description are reported in one run.

Each name of `__init__.pyi` is imported on first use: the policies read some data of the spec, and no models.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
