"""Values that a message names by the word for their parameter: "the container reports", "reports
as the branch", "im Container „reports“". No model, and nothing that is not nearly sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .message_text import is_excluded, plain
from .questions import Answer, Question

# Words of any parameter: "a file name", "the text file".
_OF_NO_ONE = frozenset({"name", "value", "text", "title", "id", "type", "kind", "key"})
_CALLED = (
    r"(?:called|named|namens|genannt|nommee?|appelee?|llamad[oa]"
    r"|(?:with|by) the name(?: of)?|mit (?:dem )?namen?|avec le nom|con el nombre)"
)
_QUOTE = r"[“\"«„'‘`]\s*([^“”\"«»„'‘’`\n]+?)\s*[”\"»“'’`]"
_VALUE = r"(\w(?:[\w./@-]*\w)?)"
# Words that may follow such a value: "the container reports in Azure", "… reports hoch".
_FOLLOWS = re.compile(
    r"in|into|to|from|on|of|for|as|at|by|with|and|or|but|then|please|now|via|using|too|also|if"
    r"|when|before|after|instead|within|under|again|im|ins|aus|von|vom|zu|zum|zur|nach|mit|als"
    r"|und|oder|dann|bitte|jetzt|auf|hoch|herunter|runter|hinauf|fur|loschen|leeren|anlegen"
    r"|erstellen|hochladen|herunterladen|runterladen|kopieren|auflisten|anzeigen|dans|de|du"
    r"|des|vers|au|aux|en|et|ou|puis|maintenant|comme|pour|avec|sur|svp|s|del|al|hacia|y|o"
    r"|luego|por|para|con|como|ahora"
)
# What follows the word for a parameter and is no value of it: "the container that …", "container
# names", "den Container öffnen", "le conteneur privé".
_NO_VALUE = re.compile(
    r"the|an|my|our|your|his|her|their|this|that|these|those|it|its|is|are|was|were|be|has"
    r"|have|had|contains|holds|which|who|whose|where|what|how|why|so|there|here|only|itself"
    r"|alone|not|no|first|last|next|new|old|empty|full|private|public|same|other|names?|lists?"
    r"|size|level|access|contents?|type|images?|registry|apps?|instances?|der|die|das|den|dem"
    r"|ist|sind|hat|nicht|neu|leer|offnen|umbenennen|entfernen|zeigen|le|la|les|un|une|qui|que"
    r"|est|privee?|vide|nouveau|el|los|las|una|es|privad[oa]|vacio|nuevo"
)
# "… den Container reports an."
_END = re.compile(r"(?:\s+(?:an|ab|ein|um))?\s*(?:[.,;:!?)]|$)")
_VERB = re.compile(r"\w+(?:laden|legen|stellen|zeigen|listen|benennen|schreiben)")
_INDEFINITE = re.compile(
    r"(?:\ba|\ban|\bany|\bsome|\banother|\bevery|\beach|\bno|\bnew|\bein(?:e[nmrs]?)?|\bune?|\buna)"
    r"\s+$"
)


def named_value(question: Question, message: str) -> Answer | None:
    """The value that the message names for a text by its title, its name or what else it is called;
    none where it names several."""
    text = plain(message)
    found: dict[str, Answer] = {}
    for word in _words(question):
        for start, end, value in _spans(word, text, may_be_new=question.kind == "name"):
            if not is_excluded(text[:start]):
                named = message[slice(*value)]
                found.setdefault(named, Answer(named, message[start:end]))
    return next(iter(found.values())) if len(found) == 1 else None


def _words(question: Question) -> Iterable[str]:
    words = [question.prompt, question.name.replace("_", " "), *question.also_called]
    folded = dict.fromkeys(" ".join(plain(each).split()) for each in words)
    return [each for each in folded if each and each not in _OF_NO_ONE]


def _spans(word: str, text: str, *, may_be_new: bool) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Where the text names a value: its begin and end with the word, and those of the value."""
    word = r"(?<!\w)" + r"\s+".join(map(re.escape, word.split()))
    for pattern in (
        rf"{word}(?:\s+{_CALLED})?\s*[:=]?\s*{_QUOTE}",
        rf"{_QUOTE}\s+{word}(?!\w)",
        rf"{word}\s+{_CALLED}\s+{_VALUE}",
        # "the sales_2024 container"; "the old container" may be any.
        rf"(?<![\w./-])((?=[a-z]\w*[\d_])\w+)\s+{word}(?!\w)",
    ):
        for match in re.finditer(pattern, text):
            yield (*match.span(), match.span(1))
    for match in re.finditer(rf"{word}(?:\s+|\s*[:=]\s*){_VALUE}", text):
        indefinite = not may_be_new and _INDEFINITE.search(text[: match.start()])
        if not indefinite and _is_value(match[1]) and _ends(text[match.end() :]):
            yield (*match.span(), match.span(1))


def _is_value(word: str) -> bool:
    refused = (_FOLLOWS, _NO_VALUE, _VERB)
    return len(word) > 1 and not any(each.fullmatch(word) for each in refused)


def _ends(rest: str) -> bool:
    """Whether the value ends before ``rest``: what is longer than a word is a text, and where that
    ends nobody knows."""
    if _END.match(rest):
        return True
    following = re.match(r"\s*([^\W\d_]+)", rest)
    return following is not None and _FOLLOWS.fullmatch(following[1]) is not None
