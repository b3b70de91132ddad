"""Put one of the site's widgets into a lesson, and a picture where no script runs."""

from typing import Any

from capsnet_tutorial.pictures import Picture

WIDGETS = ("squash", "routing", "margin", "digit")
"""The widgets there are: `<capsnet-squash>` and so on, one file each in `theme/widgets/`."""


def show_widget(name: str, picture: Picture) -> "WidgetPicture":
    """Show a picture that becomes a widget on the site.

    Jupyter and GitHub show the picture: a notebook holds no script, so it needs no trust. The site
    puts the same picture into the element `<capsnet-NAME>`, whose script replaces it.

    Args:
        name: one of `WIDGETS`.
        picture: what stands for the widget where no script runs.

    Returns:
        The picture, with the widget's name in its metadata.

    Raises:
        ValueError: if there is no such widget.

    >>> from matplotlib.figure import Figure
    >>> show_widget("squash", Picture(Figure(), "empty", alt="An empty sheet."))
    An empty sheet.
    """
    if name not in WIDGETS:
        raise ValueError(f"there is no widget {name!r}: choose one of {', '.join(WIDGETS)}")
    return WidgetPicture(name, picture)


class WidgetPicture:
    """A picture that names the widget which takes its place on the site."""

    def __init__(self, name: str, picture: Picture):
        self.name = name
        self.picture = picture

    def __repr__(self) -> str:
        return repr(self.picture)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        """Give Jupyter the picture in every form; the site reads the name beside the drawing."""
        data, metadata = self.picture._repr_mimebundle_(include, exclude)
        metadata["image/svg+xml"]["widget"] = self.name
        return data, metadata
