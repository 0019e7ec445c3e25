"""Matches a message to what needs no model: a workflow by its name, a close one, or the quality
report of a notebook.

Only a name starts a workflow, so the message must ask for nothing else; close ones are offered. A
message about something that exists (a cell, "the plot", "this notebook") matches none: workflows
write a new notebook.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...protocol.limits import MOST_CHARACTERS
from ..template import Template

# The vocabulary of ``matching``, in English, German, French and Spanish.
#
# Words are as ``split_words`` gives them: in lower case, without accents. A stem ends with ``*``.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMON = _words(
    """notebook model plot report chart graph figures draw picture analyse analyze understand
    profile fit distribution count analysiere analiza modell modele modelo diagramm graphique
    grafico bericht rapport informe cuaderno cahier carnet"""
) | {"look at", "get to know", "missing values"}
"""Keywords that also occur in messages about something else: each counts half."""

DATA = _words(
    """<data> data dataset datasets file csv parquet table daten datensatz datei tabelle donnees
    fichier tableau datos conjunto archivo fichero tabla"""
)

MAKING = _words(
    """create make write generate build prepare produce do perform conduct carry draft
    erstelle erzeuge generiere schreibe baue mache mach cree fais genere ecris construis realise
    crea haz genera escribe construye"""
)

DEFINITE = _words(
    """the this that these those my our your current active open existing last first its
    der die das den dem des dieses diesem diesen diese dieser mein meine meinem unser
    le la les ce cet cette ces mon ma mes notre el los las este esta estos mi nuestro"""
)

ASKING = (
    MAKING
    | DEFINITE
    | _words(
        """please can could would will you i we want need like to let us lets me now just then and
        run start launch begin use apply give execute out set up a an another new complete full
        whole quick simple short small basic good with by means of workflow template agent
        bitte kannst konntest du ich will mochte brauche mir starte fuhre nutze ein eine einen
        neues neue vollstandiges den
        s il te vous plait peux tu pouvez je veux voudrais lance execute demarre utilise un une
        nouveau nouvelle moi
        por favor puedes podrias quiero necesito ejecuta inicia lanza usa una nuevo nueva
        completo"""
    )
)
"""Words that may precede the name of a requested workflow."""

AFTER_A_NAME = _words(
    """, . ; : ? ! of on for with from in into about using over as to at by and please now called
    named workflow template fur von mit aus in uber und bitte de du des sur pour avec dans et
    con sobre para en y por"""
)

PREPOSITIONS = _words("in into of from on with aus von mit dans de du depuis en del con desde")

THINGS = _words(
    """notebook* cell* code* script* plot* chart* graph* figure* model* pipeline* report* training*
    analysis* function* variable* loop* kernel* output* error* axis axes legend* title* line*
    modell* diagramm* bericht* skript* modele* rapport* graphique* script* modelo* informe*
    grafico* cuaderno* cahier* carnet*"""
)

CHANGES = _words(
    """delete* remov* drop fix* repair* debug* renam* refactor* undo revert* restart* interrupt*
    reinstall* uninstall* install* upgrade* rerun* clear* move moves moving merge* split* duplicat*
    translat* replac* correct* shorten* simplif* rewrit* reformat* restor* reset* clos* hide fill
    imput* cancel* stop* abort* tidy rollback broken convert*
    losch* entfern* repari* korrig* beheb* umbenenn* benenn* verschieb* ersetz* uberset* ander
    andere anderst stopp* kurz* formatier* installier*
    supprim* effac* enlev* repar* corrig* renomm* deplac* remplac* tradui* arret* annul* nettoi*
    nettoy*
    borra* elimin* quita* arregl* renombr* muev* mover reemplaz* traduc* deten* cancela* limpia"""
)
"""Words for changing something that exists: a message with one asks for no workflow."""

EXPLAINING = _words(
    """explain* describ* summar* comment* document* tell show list find search read open opens
    opened compar* add adds insert* append* updat* chang* modif* run execute save export import
    test verify count improv* optimi* speed tune format
    erklar* beschreib* zeig* fasse kommentier* fuge erganz* speicher* prufe* verbesser* suche finde
    expliqu* decri* montre* resum* ajout* enregistr* verifi* amelior* cherche trouve lis
    explica* describ* muestra* anad* agreg* guard* comprueb* verific* mejor* busca encuentra lee"""
)
"""Words that precede the object."""

FIRST_OF_QUESTION = _words(
    """why how what which where when who whose does did is are was were has have should am
    warum wieso wie was welche welcher welches wo wann wer ist sind hat
    pourquoi comment que quel quelle quels quelles ou quand qui qu est
    como cual cuales donde cuando quien es esta son por"""
)

WHY = _words("why warum wieso weshalb pourquoi porque")

CELL = re.compile(
    r"\b(?:cell|zelle|cellule|celda)\b|\b(?:cells|zellen|cellules|celdas) \d|\bin \d+\b"
)

NEGATION = re.compile(
    r"\b(?:not|dont|never|instead|rather|kein|keine|keinen|nicht|nie|niemals|pas|jamais|nunca"
    r"|jamas)\b|^no \w"
)

_BOOK = (
    r"(?:notebooks?|code|cells|<notebook>|zellen|hefte?s?|cahier|carnet|cuaderno|codigo|libreta)"
)
_THE = (
    r"(?:(?:the|this|that|my|our|a|any|all|of|in|for|s|whole|entire|current|active|open|attached"
    r"|der|die|das|des|dieses|diesem|meines|meinem|mein|vom|von|im|aktuellen"
    r"|de|du|le|la|ce|cet|cette|mon|del|el|este|mi|l|en|dans)\s+)*"
)
_GOOD = (
    r"(?:clean|tidy|good|messy|bad|readable|reproducible|well (?:written|structured|organi[sz]ed)"
    r"|sauber|gut|ordentlich|lesbar|propre|bien|bon|lisible|limpio|bueno|ordenado|legible)"
)
QUALITY = re.compile(
    # The quality of the notebook; notebook quality; a quality report.
    rf"\b(?:quality|qualitat|qualite|calidad|lint\w*|code smells?|best practices|readability"
    rf"|reproducib\w+|weak points|weaknesses) {_THE}{_BOOK}\b"
    rf"|\bwrong (?:with|in) {_THE}{_BOOK}\b|\b{_BOOK} (?:\w+ )?best practices\b"
    rf"|\b{_BOOK}(?: s)? (?:quality|qualitat|calidad)\b"
    r"|(?<!data )\bquality (?:report|check|score|review|audit|issues?|problems?)\b"
    r"|\bqualitats(?:bericht|prufung)\b|\brapport de qualite\b|\binforme de calidad\b"
    # Is this notebook clean? How clean is it?
    r"|^(?:is|are|how|ist|sind|wie|est|es|esta|que tan)\b.*?"
    rf"\b{_THE}{_BOOK}\b(?: \w+){{0,2}}? {_GOOD}\b"
    rf"|^(?:how|wie|que tan) {_GOOD} (?:is|are|ist|sind|es|esta|\w+) {_THE}{_BOOK}\b"
    # Review this notebook.
    rf"|\b(?:review|audit|lint|grade|rate|critique|assess|evaluate|inspect|check|analy[sz]e"
    rf"|bewerte|begutachte|prufe|uberprufe|analysiere|verifie|evalue|revisa|analiza|evalua)"
    rf" (?:the|this|my|our|das|dieses|mein|ce|cet|le|mon|este|el|mi)(?: whole| entire)? {_BOOK}"
    r"(?!\s+(?:data|output|kernel|cell|runs?|is|ist|fits?))\b"
)


THRESHOLD = 2
"""What a template must score to be close: one distinctive keyword, or a common one ("plot",
"notebook") and another sign, such as a data file."""
MARGIN = 1
"""The lead with which the best is offered alone."""
MOST = 2
"""The most that are offered; a message that is as close to more matches none."""


@dataclass(frozen=True)
class Match:
    """``asked``: the message names the one template; ``close``: it resembles these; ``quality``: it
    asks how good a notebook is."""

    kind: Literal["asked", "close", "quality", "nothing"]
    templates: tuple[Template, ...] = ()


NOTHING = Match("nothing")
PUNCTUATION = frozenset(",.;:?!")
_FILES = {
    "<notebook>": re.compile(r"\S+\.ipynb\b"),
    "<data>": re.compile(
        r"\S+\.(?:csv|tsv|tab|parquet|pq|xlsx?|jsonl|feather)(?:\.(?:gz|bz2|xz|zip|zst))?\b"
    ),
}


def match(message: str, templates: Iterable[Template]) -> Match:
    """Match a message."""
    if len(message) > MOST_CHARACTERS:
        return NOTHING
    words = split_words(message)
    sentence = " ".join(word for word in words if word not in PUNCTUATION)
    if not sentence or _changes_what_exists(sentence, words):
        return NOTHING
    if QUALITY.search(sentence):
        return Match("quality")
    known = list(templates)
    asked = [template for template in known if _asks_for(template, words)]
    if len(asked) == 1:
        return Match("asked", (asked[0],))
    close = _closest(known, words)
    return Match("close", close) if close else NOTHING


def split_words(text: str) -> list[str]:
    """The words in lower case and without accents; names of files as ``<data>``, ``<notebook>``;
    punctuation marks."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").casefold())
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    plain = plain.replace("n't", " not").replace("visualis", "visualiz")
    for name, pattern in _FILES.items():
        plain = pattern.sub(f" {name} ", plain)
    return re.findall(r"<(?:data|notebook)>|[^\W_]+|[,.;:?!]", plain)


def _changes_what_exists(sentence: str, words: Sequence[str]) -> bool:
    """Whether the message is negated, or about a cell or a change to something that exists."""
    if CELL.search(sentence) or NEGATION.search(sentence):
        return True
    return any(_is_one_of(word, CHANGES) for word in words)


def _is_one_of(word: str, stems: frozenset[str]) -> bool:
    return word in stems or any(f"{word[:end]}*" in stems for end in range(2, len(word) + 1))


# -- by name -------------------------------------------------------------------------------------


def _asks_for(template: Template, words: Sequence[str]) -> bool:
    """Whether the message only asks for the template: with words of asking before its name, and its
    subject after."""
    names = {tuple(split_words(template.name)), tuple(split_words(template.id.replace("-", " ")))}
    return any(
        _are_asking(words[:start], words[start + len(name) :])
        for name in names
        for start in _places(words, name)
    )


def _are_asking(before: Sequence[str], after: Sequence[str]) -> bool:
    if not all(word in ASKING for word in before):
        return False
    if after and after[0] not in AFTER_A_NAME and not after[0].startswith("<"):
        return False
    # "Run the data analysis notebook" means one that exists, "the … workflow" does not.
    definite = any(word in DEFINITE for word in before)
    made = any(word in MAKING for word in before)
    workflow = {"workflow", "template"}.intersection([*before, *after[:1]])
    return not definite or made or bool(workflow)


# -- what is close ---------------------------------------------------------------------------------


def _closest(templates: Sequence[Template], words: Sequence[str]) -> tuple[Template, ...]:
    scores = [(score, template) for template in templates if (score := _score(template, words))]
    best = max((score for score, _ in scores), default=0)
    near = [template for score, template in scores if best - score < MARGIN]
    return tuple(near) if best >= THRESHOLD and len(near) <= MOST else ()


def _score(template: Template, words: Sequence[str]) -> int:
    """The sum of keywords and other signs; 0 for a question, or a message about something that
    exists."""
    found = [
        (start, len(keyword), keyword)
        for keyword in (tuple(split_words(each)) for each in template.keywords)
        for start in _places(words, keyword)[:1]
    ]
    if not found:
        return 0
    first = min(start for start, _, _ in found)
    points = sum(_weight(keyword) for _, _, keyword in found)
    covered = {start + i for start, length, _ in found for i in range(length)}
    if _is_question(words, covered) or _means_what_exists(words, first, points):
        return 0
    names_data = any(word in DATA for word in words)
    makes = any(word in MAKING for word in words)
    if points < THRESHOLD and _needs_data(template) and not names_data:
        return 0
    return points + names_data + makes


def _weight(keyword: Sequence[str]) -> int:
    return 1 if " ".join(keyword) in COMMON else max(2, len(keyword) ** 2)


def _needs_data(template: Template) -> bool:
    data = template.parameters.model_fields.get("data")
    return data is not None and data.is_required()


def _is_question(words: Sequence[str], covered: set[int]) -> bool:
    """Whether it asks a question; a keyword such as "how often" is no question."""
    if words[0] in FIRST_OF_QUESTION and 0 not in covered:
        return True
    return any(word in WHY for word in words)


def _means_what_exists(words: Sequence[str], first: int, points: int) -> bool:
    """Whether it is about "the plot", "this notebook", or asks to explain or add something before
    the first keyword. Where a thing is to be done, as in "in this notebook", is no such thing."""
    if any(_is_one_of(word, EXPLAINING) for word in words[:first]):
        return True
    for place, word in enumerate(words):
        if word not in DEFINITE:
            continue
        where = place > first and words[place - 1] in PREPOSITIONS and points >= THRESHOLD
        if not where and any(_is_one_of(each, THINGS) for each in words[place + 1 : place + 4]):
            return True
    return False


def _places(words: Sequence[str], phrase: Sequence[str]) -> list[int]:
    """Where the phrase begins; words match by their beginnings ("plots" for "plot"), those of up to
    three letters as a whole."""
    return [
        start
        for start in range(len(words) - len(phrase) + 1)
        if phrase and all(_meets(words[start + i], part) for i, part in enumerate(phrase))
    ]


def _meets(word: str, part: str) -> bool:
    return word == part or (len(part) >= 4 and word.startswith(part))
