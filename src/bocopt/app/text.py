"""Texts from anywhere, made fit to be shown."""


def plain(text: str) -> str:
    r"""Return one line that every screen can show; what cannot be shown stands there by its code.

    >>> print(plain("one\ntwo \x1b[2J"))
    one two \x1b[2J
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def count(number: int, one: str) -> str:
    """Return a number with its noun, in the plural where it is not one.

    >>> count(1, "trial"), count(20, "trial")
    ('1 trial', '20 trials')
    """
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
