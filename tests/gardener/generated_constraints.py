"""Version constraints and versions at random, a good part of them wrong."""

from __future__ import annotations

from random import Random

_NUMBERS = ("0", "0", "1", "1", "2", "3", "31", "32")
_ODD_NUMBERS = ("x", "*", "X", "01", "30", "xx", "1|", "", "99999999999999999999")
_PRERELEASES = ("0", "alpha", "rc.1", "01", "1", "1.2", "-", "a.b", "99999999999999999999", "alpha.beta")
_OPERATORS = ("", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^")
_ODD_OPERATORS = ("==", ">>", "&")


def constraint(random: Random) -> str:
    """One to three alternatives, of ranges and of comparisons that are joined in every way there is."""
    groups = [
        _partial(random) + random.choice((" - ", "  -  ", " -", "- ")) + _partial(random)
        if random.random() < 0.15
        else _odd(random, (" ", ", ", ",", " , ", "  "), (",,", ";")).join(
            _comparison(random) for _ in range(random.choice((1, 1, 2, 3)))
        )
        for _ in range(random.choice((1, 1, 1, 2, 2, 3)))
    ]
    return (
        random.choice(("", " "))
        + _odd(random, (" || ", "||"), ("| |", "|")).join(groups)
        + random.choice(("", " ", "\n"))
    )


def version(random: Random) -> str:
    """One to three numbers, often with a prerelease."""
    text = ".".join(random.choice(_NUMBERS) for _ in range(random.choice((1, 2, 3, 3, 3, 3))))
    if random.random() < 0.3:
        text += "-" + random.choice(_PRERELEASES)
    if random.random() < 0.1:
        text += "+b"
    return random.choice(("", "v")) + text


def _odd(random: Random, usual: tuple[str, ...], odd: tuple[str, ...]) -> str:
    return random.choice(odd if random.random() < 0.05 else usual)


def _comparison(random: Random) -> str:
    space = _odd(random, ("", " ", "  ", "\t"), ("\n", "\v", " \r\n", "\u00a0"))
    return _odd(random, _OPERATORS, _ODD_OPERATORS) + space + _partial(random)


def _partial(random: Random) -> str:
    count = random.choice((1, 2, 2, 3, 3, 3, 3, 4) if random.random() < 0.2 else (1, 2, 3, 3))
    numbers = (_odd(random, (*_NUMBERS, "x", "*"), _ODD_NUMBERS) for _ in range(count))
    text = random.choice(("", "", "", "v")) + ".".join(numbers)
    if random.random() < 0.2:
        text += "-" + random.choice(_PRERELEASES)
    if random.random() < 0.1:
        text += "+" + random.choice(("b", "1.01", "x"))
    return text
