"""The vocabulary of ``matching``, in English, German, French and Spanish.

Words are as ``split_words`` gives them: in lower case, without accents. A stem ends with ``*``.
"""

from __future__ import annotations

import re


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
