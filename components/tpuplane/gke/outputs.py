"""The outputs of a component: the attributes that its classes annotate, as in the schema of the plugin."""

import inspect

import pulumi
from pydantic.alias_generators import to_camel


class Component(pulumi.ComponentResource):
    """A component whose annotated attributes are its outputs."""

    def register_annotated(self) -> None:
        """Register them, once they are set."""
        own = type(self).__mro__[: type(self).__mro__.index(Component)]
        names = [name for kind in reversed(own) for name in inspect.get_annotations(kind)]
        self.register_outputs({to_camel(name): getattr(self, name) for name in names})
