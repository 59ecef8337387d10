"""The frame of every HTML page."""

from importlib.resources import files
from string import Template

_DOCUMENT = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
$head</head>
<body>
$body</body>
</html>
""")


def document(title: str, head: str, body: str) -> str:
    """The whole file; all of them are markup, whose lines are ended."""
    return _DOCUMENT.substitute(title=title, head=head, body=body)


def style(css: str) -> str:
    """In the page itself, which then needs nothing else."""
    return f"<style>\n{css}</style>\n"


def part(package: str, name: str) -> str:
    """A style or script that comes with a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
