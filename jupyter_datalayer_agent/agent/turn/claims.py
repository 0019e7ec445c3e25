"""Whether an answer says that it changed or ran something, or that it is about to.

Used only for turns in which nothing was tried, or no run: the text decides whether the notice is
shown, not what it says. So a missed claim costs the notice, and a wrong guess shows one that is
true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...protocol.compared import compared_ends

_DONE = (
    r"added|inserted|created|placed|put|updated|changed|edited|modified|replaced|rewrote|rewritten|"
    r"renamed|moved|deleted|removed|fixed|corrected|ran|run|rerun|re-run|executed"
)
_GERMAN = (
    r"hinzugefügt|eingefügt|erstellt|angelegt|geändert|aktualisiert|ersetzt|gelöscht|entfernt|"
    r"verschoben|korrigiert|behoben|ausgeführt"
)
_FRENCH = r"(?:ajouté|inséré|créé|modifié|remplacé|supprimé|déplacé|corrigé|exécuté)e?s?"
_SPANISH = (
    r"(?:añadid|agregad|insertad|cread|modificad|cambiad|actualizad|reemplazad|eliminad|borrad|"
    r"movid|corregid|ejecutad)[oa]s?"
)
_THING = (
    r"cells?|blocks?|notebook|document|chart|plot|graph|histogram|figure|table|code|column|error|"
    r"bug|typo|import"
)
_I_HAVE = r"\b(?:i|we)(?:['’]ve|\s+have)?(?:\s+(?:now|just|also|successfully|then))*\s+"
_CLAIMS = re.compile(
    rf"{_I_HAVE}(?:{_DONE})\b"
    rf"|^\W*(?:done\W+)?(?:{_DONE}) (?:an?|the|all|your|it|cells?|blocks?|\d+)\b"
    r"|\b(?:in|see) (?:the|a) new(?:ly added)? (?:\w+ )?(?:cell|block)\b"
    rf"|\b(?:{_THING})\b.{{0,40}}\b(?:has|have) (?:now |just )?been (?:{_DONE})\b"
    r"|\ball (?:the |of the )?(?:cells|blocks) (?:ran|have run)\b"
    r"|\bthe (?:notebook|document) now (?:has|contains|includes|shows)\b"
    rf"|\b(?:ich habe|habe ich|wir haben|haben wir)\b.{{0,120}}\b(?:{_GERMAN})\b"
    rf"|\bwurden? .{{0,80}}?\b(?:{_GERMAN})\b|\bin (?:der|einer) neuen (?:\w+[ -])?zelle\b"
    rf"|\b(?:j['’]ai|nous avons|(?:a|ont) été)\b.{{0,40}}\b{_FRENCH}\b"
    r"|\bdans (?:la|une) nouvelle cellule\b"
    rf"|\b(?:he|hemos|se han?|han? sido) {_SPANISH}\b|\ben (?:la|una) nueva celda\b"
    r"|\b(?:añadí|agregué|inserté|creé|modifiqué|cambié|actualicé|reemplacé|eliminé|borré|moví"
    r"|corregí|ejecuté)\b",
    re.IGNORECASE | re.DOTALL,
)
# "This was printed by the cell", with figures that the model made up.
_RAN = r"(?:re-?)?ran|executed"
_CODE_THING = r"(?:cells?|blocks?|code|notebook)"
_CLAIMS_RUN = re.compile(
    rf"{_I_HAVE}(?:{_RAN}|(?:re-?)?run)\b"
    rf"|\b(?:and|then)(?: \w+)? (?:{_RAN}) (?:it|them|the|all|cell)\b"
    rf"|^\W*(?:done\W+)?(?:{_RAN}) (?:an?|the|all|your|it|cells?|blocks?|\d+)\b"
    rf"|\b{_CODE_THING}\b.{{0,40}}\b(?:was|were|(?:has|have) been) (?:\w+ly )?(?:run|executed)\b"
    rf"|\b{_CODE_THING}(?: \d+)? (?:\w+ly )?(?:ran|printed|returned|produced)\b"
    r"|\bprinted by (?:the|this|a)\b"
    r"|\b(?:ich habe|habe ich|wir haben|haben wir|wurden?)\b.{0,120}\bausgeführt\b"
    r"|\b(?:j['’]ai|nous avons|(?:a|ont) été)\b.{0,40}\bexécutée?s?\b"
    r"|\b(?:he|hemos|se han?|han? sido) ejecutad[oa]s?\b|\bejecuté\b",
    re.IGNORECASE | re.DOTALL,
)
# Acts of another turn, negated or hypothetical ones. A place ("after cell 3") is none of these, nor
# is "without errors".
_NOT_NOW = re.compile(
    r"\b(?:earlier|previous(?:ly)?|last (?:turn|time|message)|already|if|once|when|"
    r"(?:after|before)(?! (?:the |your )?(?:\w+ )?(?:cell|block))|no(?! (?:\w+ )?errors?\b)|"
    r"not|nothing|haven['’]t|didn['’]t|can|could|would|vorhin|bereits|schon|zuvor|nichts?|keine?n?|"
    r"wenn|falls|kann|könnte|déjà|précédemment|avant|pas|rien|si|ya|antes|anteriormente|nada)\b",
    re.IGNORECASE,
)
# "I will use the `runNotebookCells` function.", and then the turn is over: small models do so.
_ACT = (
    r"add|insert|create|place|put|update|change|edit|modify|replace|rewrite|rename|move|delete|"
    r"remove|fix|correct|re-?run|run|execute"
)
_GERMAN_ACT = (
    r"hinzufügen|einfügen|erstellen|anlegen|ändern|aktualisieren|ersetzen|löschen|entfernen|"
    r"verschieben|korrigieren|beheben|ausführen"
)
_FRENCH_ACT = r"ajouter|insérer|créer|modifier|remplacer|supprimer|déplacer|corriger|exécuter"
_SPANISH_ACT = (
    r"añadir|agregar|insertar|crear|modificar|cambiar|actualizar|reemplazar|eliminar|borrar|mover|"
    r"corregir|ejecutar"
)
_ANNOUNCES = re.compile(
    r"\b(?:i|we)(?:['’]ll|\s+will|['’]m going to|\s+am going to|['’]re going to|\s+are going to)"
    r"(?:\s+(?:now|just|also|then|first|next))*\s+"
    rf"(?:(?:{_ACT})\b.{{0,60}}\b(?:{_THING})\b"
    r"|(?:use|call|invoke) (?:the )?[`\"']?\w+[`\"']? (?:function|tool)\b)"
    rf"|\b(?:ich werde|werde ich)\b.{{0,80}}\bzellen?\b.{{0,80}}\b(?:{_GERMAN_ACT})\b"
    rf"|\bje vais\b(?: \w+)? (?:{_FRENCH_ACT})\b.{{0,60}}\bcellules?\b"
    rf"|\bvoy a (?:{_SPANISH_ACT})\b.{{0,60}}\bceldas?\b",
    re.IGNORECASE | re.DOTALL,
)
# An offer waits for the user, as a question does.
_OFFER = re.compile(
    r"\?|\b(?:tell me|let me know|confirm|approve|please|unless|otherwise|should you|would you|"
    r"bitte|sag|dites|confirme[zrs]?|dime|por favor)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")


def claims_an_act(answer: str) -> bool:
    """Whether a sentence of the answer (Markdown) says that something was changed or run now."""
    return any(_CLAIMS.search(each) for each in _sentences(answer))


def claims_a_run(answer: str) -> bool:
    """Whether a sentence of the answer (Markdown) says that code was run now."""
    return any(_CLAIMS_RUN.search(each) for each in _sentences(answer))


def announces_an_act(answer: str) -> bool:
    """Whether a sentence of the answer (Markdown) says that something will be changed or run, and
    none asks the user for anything."""
    if _OFFER.search(_CODE.sub("\n", compared_ends(answer))):
        return False
    return any(_ANNOUNCES.search(each) for each in _sentences(answer))


def _sentences(answer: str) -> Iterator[str]:
    """The sentences outside of code that are about now."""
    for each in _SENTENCE.split(_CODE.sub("\n", compared_ends(answer))):
        sentence = " ".join(each.split())
        if not _NOT_NOW.search(sentence):
            yield sentence
