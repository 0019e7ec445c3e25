/**
 * Whether the words of a message need a notebook, as far as words tell: a message that does and goes
 * out with none attached cannot be answered. It is only asked for, so a near miss costs a click.
 */

/** Characters of a message that are looked at: what is longer is a text or a task. */
const MOST_CHARACTERS = 2_000;

/** Words in which a language points at the notebook that is open, or at a part of it. */
const POINTING: readonly RegExp[] = [
  // English.
  /\b(this|these|my|our|current|open|active|above|selected|previous)\s+((two|three|last|first|whole|entire|jupyter|code|markdown|python|bar|line|scatter|data)\s+)*(notebooks?|cells?|outputs?|code|analysis|plots?|charts?|graphs?|figures?|tables?|data\s?frames?|variables?|functions?|errors?|exceptions?|tracebacks?|results?|imports?|columns?)\b(?!\s+(is|are)\s+a\b)/i,
  /\bthe\s+((whole|entire|full|current|open|active|first|second|third|last|next|previous|failing|failed|empty|selected|code|markdown)\s+)*(notebook(?![\s-](format|interface|server|extension|api|ui|7)\b)|cells?\b|errors?\b(?!\s+(function|bars?|rate|propagation|handling|code))|traceback\b|exception\b(?!\s+(class|handling|hierarchy)))/i,
  /\b(cells?|outputs?)\s*(no\.?|number|#)?\s*\d/i,
  /\b(in|out)\s?\[\d+\]/i,
  // German.
  /(?<!\p{L})(dies\p{L}*|mein\p{L}*|unser\p{L}*|aktuell\p{L}*|offen\p{L}*|ganz\p{L}*|das|dem|im|ins)\s+(notebooks?|notizbuch\p{L}*)(?![-\p{L}])/iu,
  /(?<!\p{L})(dies\p{L}*|mein\p{L}*|letzt\p{L}*|erst\p{L}*|nächst\p{L}*|obige\p{L}*|der|die|den)\s+(zellen?|fehler|ausgabe|fehlermeldung)(?!\p{L})/iu,
  /(?<!\p{L})(dies\p{L}*|mein\p{L}*)\s+(code|diagramm|daten|ergebnis\p{L}*)(?!\p{L})/iu,
  /(?<!\p{L})zellen?\s*\d/iu,
  // French.
  /(?<!\p{L})(ce|cet|cette|ces|mon|ma|mes|notre|nos|le|la|les|du|au|dernière|première|prochaine)\s+(notebook|carnet|cellules?)(?!\p{L})/iu,
  /(?<!\p{L})(ce|cet|cette|ces|mon|ma|mes)\s+(code|erreurs?|graphiques?|données|résultats?)(?!\p{L})/iu,
  /(?<!\p{L})l['’]erreur(?!\p{L})|(?<!\p{L})cellules?\s*\d/iu,
  // Spanish, Portuguese and Italian.
  /(?<!\p{L})(este|esta|estos|estas|mi|mis|el|la|las|los|del|al|última|primera|siguiente)\s+(notebook|cuaderno|libreta|celdas?|error)(?!\p{L})/iu,
  /(?<!\p{L})(n?[ed]?est[ea]s?|ness[ea]s?|dess[ea]s?|ess[ea]s?|meus?|minhas?|o|no|na|do|da|última|primeira)\s+(notebook|caderno|c[ée]lulas?|erro)(?!\p{L})/iu,
  /(?<!\p{L})(quest[oaei]|mi[oa]|il|la|le|nel|nella|del|della|ultima|prima)\s+(notebook|quaderno|taccuino|cell[ae])(?!\p{L})/iu,
  /(?<!\p{L})(este|esta|mi|meu|questo|mio)\s+(código|codigo|codice|gráfico|grafico|errore)(?!\p{L})/iu,
  /(?<!\p{L})(celdas?|c[ée]lulas?|cell[ae])\s*\d/iu,
  // Dutch and Polish.
  /(?<!\p{L})(dit|deze|mijn|het|de)\s+(notebook|notitieboek|cel|cellen)(?!\p{L})|(?<!\p{L})cel\s*\d/iu,
  /(?<!\p{L})(ten|tym|tego|mój|moim|ta|tę|tej|te)\s+(notebook\p{L}*|notatnik\p{L}*|komórk\p{L}+)|(?<!\p{L})komórk\p{L}+\s*\d/iu,
  // Russian.
  /(?<!\p{L})(эт\p{L}+|мо\p{L}+|наш\p{L}*|текущ\p{L}+|последн\p{L}+)\s+(ноутбук\p{L}*|блокнот\p{L}*|ячейк\p{L}*|код\p{L}*|ошибк\p{L}*)|(?<!\p{L})ячейк\p{L}*\s*\d/iu,
  // Chinese, Japanese and Korean.
  /(这个?|这份|這個?|這份|本|当前|當前|此|我的|该)\s*(jupyter\s*)?(notebook|笔记本|筆記本|单元格?|單元格?|代码|代碼|程式碼|错误|錯誤|报错)|第\s*[\d一二三四五六七八九十]+\s*个?個?\s*(单元格?|單元格?|cell)|(单元格|單元格)\s*\d/i,
  /(この|今の|現在の|私の)\s*(ノートブック|ノート|セル|コード|エラー|notebook)|セル\s*\d|\d\s*番目のセル/i,
  /(?<!\p{L})(이|현재|내)\s*(노트북|셀|코드|오류|에러|notebook)|셀\s*\d|\d\s*번째?\s*셀/iu,
  // Arabic.
  /(هذا|هذه)\s+(الدفتر|المفكرة|النوتبوك|الخلية|الكود|الخطأ)/
];

/** A conversation that begins so is about what the user looks at. */
const LOOKING =
  /^\W*((please|can you|could you)\s+)*((explain|summari[sz]e|describe|review|check|fix|debug|improve|refactor|document|simplify|analy[sz]e|look at)\s+(this|everything|all of this)|what(\s+does|['’]s|\s+is)\s+(this(\s+(do|doing|about|for|mean))?|going on(\s+here)?|wrong(\s+here)?|(in\s+)?here)|why\s+(does|did|doesn['’]t|didn['’]t)\s+this\s+\w+(\s+\w+)?|is\s+this\s+(right|correct|ok))\s*[.!?]*\s*$/i;

/** Asks for something new beside the notebooks that there are. */
const MAKES_NEW =
  /(?<!\p{L})(a|an|another|new|fresh|ein|eine|einen|neue[sn]?|un|une|uno|una|nouveau|nuevo|nuovo|um|uma|novo|een|nieuw)\s+(\S+\s+){0,3}(notebook|notizbuch|carnet|cuaderno|quaderno|caderno|file|datei|fichier|archivo)|(新建|创建|創建|新しい|새)\s*\S{0,6}\s*(notebook|笔记本|筆記本|ノートブック|노트북)/iu;

/** Wants to know something, not to have something done. */
const INSTRUCTION =
  /^\W*((please|can you|could you|would you)\s+)*(explain|tell|describe|define(?!\s+(an?|the|two|three)?\s*(\w+\s+)?(function|class|variable|constant|method|helper)s?\b)|compare|recommend|teach|show me how|help me understand|what|why|who|when|where|which|how|is|are|was|do(?=\s+(i|you|we|they|these|those)\b)|does|did|should|erklär\p{L}*|explique\p{L}*|expliqu\p{L}*|explica\p{L}*|spiega\p{L}*)(?!\p{L})|^\W*(请|請)?(解释|解釋|説明|说明)/iu;

const POLITE =
  /^\W*((please|bitte|por favor|s['’]il te plaît)\W+)*(can|could|would|will)\s+(you|we)(?!\p{L})|^\W*(kannst du|könntest du|können sie|peux-tu|pouvez-vous|puedes|podrías|puoi|potresti|você pode|kun je)(?!\p{L})/iu;

/** Cells are to be added, changed or run: "Add a cell and run it", "führe die Zelle aus". */
const CELL_WORK: readonly RegExp[] = [
  /\b(add|insert|append|create|write|run|re-?run|execute|delete|remove|move|split|merge|replace)\b.{0,60}\b(cells?|notebook)\b/is,
  /(?<!\p{L})(füg\p{L}*|ergänz\p{L}*|erstell\p{L}*|schreib\p{L}*|führ\p{L}*|lösch\p{L}*|entfern\p{L}*|verschieb\p{L}*)(?!\p{L}).{0,60}(?<!\p{L})(zellen?|notebook)(?!\p{L})/isu,
  /(?<!\p{L})(ajout\p{L}*|insér\p{L}*|cré\p{L}*|écri\p{L}*|exécut\p{L}*|supprim\p{L}*|déplac\p{L}*)(?!\p{L}).{0,60}(?<!\p{L})(cellules?|notebook|carnet)(?!\p{L})/isu,
  /(?<!\p{L})(añad\p{L}*|agreg\p{L}*|insert\p{L}*|cre[ae]\p{L}*|escrib\p{L}*|ejecut\p{L}*|elimin\p{L}*|borr\p{L}*)(?!\p{L}).{0,60}(?<!\p{L})(celdas?|cuaderno)(?!\p{L})/isu
];

/** Says that something is not to be done. */
const REFUSAL =
  /^\W*((please|bitte|por favor|s['’]il (te|vous) plaît)\W+)*(do not|don['’]?t|never|nicht|no|n['’]\p{L}+ (pas|rien)|ne \p{L}+ (pas|rien))(?!\p{L})/iu;

/** Says nothing that is to be done. */
const SMALL_TALK =
  /^\W*(hi|hello|hey|good (morning|evening)|thanks?|thank you|thx|ok|okay|great|yes|no|continue|go on|resume|hallo|guten (tag|morgen)|danke|ja|nein|weiter|bonjour|salut|merci|oui|non|hola|gracias|sí|ciao|grazie|olá|obrigad[oa]|你好|您好|谢谢|こんにちは|ありがとう|안녕하세요|감사합니다)(\s+(again|a lot|so much|very much|there))?\W*$/iu;

/** Whether a message points at the notebook that is open; `isFirst`: nothing was said before it. */
export function pointsAtNotebook(message: string, isFirst: boolean): boolean {
  return (
    POINTING.some(words => words.test(compared(message))) ||
    (isFirst && LOOKING.test(compared(message)))
  );
}

/** Whether a message asks for something to be done, as Edit and Agent mode do it in a notebook. */
export function asksForWork(message: string): boolean {
  const text = compared(message);
  if (SMALL_TALK.test(text) || MAKES_NEW.test(text)) {
    return false;
  }
  return !isQuestion(message);
}

/** Whether a message asks for cells to be added, changed or run, which Ask mode does not do. */
export function asksForCells(message: string): boolean {
  const text = compared(message);
  return (
    !isQuestion(message) &&
    !REFUSAL.test(text) &&
    CELL_WORK.some(words => words.test(text))
  );
}

/** Whether a message wants to know something, and nothing done. */
export function isQuestion(message: string): boolean {
  const hasMark = /[?？؟]$/.test(message.trimEnd());
  const text = compared(message);
  return INSTRUCTION.test(text) || (hasMark && !POLITE.test(text));
}

/** The part of a message in which words are looked for: its beginning, as the server does. */
function compared(message: string): string {
  return message.slice(0, MOST_CHARACTERS);
}
