/**
 * HTML that only shows something, as that of tables: nothing in it runs, is loaded, leads anywhere,
 * takes input, or reaches out of its place. `simple_html.py` of the server knows the same.
 */
const TAGS = new Set(
  (
    'b blockquote br caption code col colgroup dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li mark ' +
    'ol p pre s small span strong style sub sup table tbody td tfoot th thead tr u ul var'
  ).split(' ')
);
const ATTRIBUTES = new Set(
  'align border class colspan halign rowspan scope scoped style valign'.split(
    ' '
  )
);
const PROPERTIES = new Set(
  (
    'background-color color font-style font-weight max-width min-width padding text-align ' +
    'vertical-align white-space width'
  ).split(' ')
);
const VALUE = /^[\w\s#%.-]*$/;
/** Of tables alone, and of nothing that follows them. */
const SELECTOR = /^\.dataframe[\w\s:.>-]*$/;

/** Whether HTML only shows something. */
export function isSimpleHtml(html: string): boolean {
  // A document without a window: nothing in it is fetched or run.
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  const whole = [parsed.documentElement, parsed.head, parsed.body];
  return [...parsed.querySelectorAll('*')].every(
    node =>
      (TAGS.has(node.localName) || whole.includes(node as HTMLElement)) &&
      [...node.attributes].every(
        ({ name, value }) =>
          ATTRIBUTES.has(name) && (name !== 'style' || areSimple(value))
      ) &&
      (node.localName !== 'style' || isOfTables(node.textContent ?? ''))
  );
}

function areSimple(declarations: string): boolean {
  return declarations.split(';').every(declaration => {
    const [property, ...values] = declaration.split(':');
    const name = property.trim().toLowerCase();
    return (
      (!name && !values.length) ||
      (PROPERTIES.has(name) && values.length === 1 && VALUE.test(values[0]))
    );
  });
}

/** The style sheet that pandas and polars send with each table. */
function isOfTables(sheet: string): boolean {
  const rules = sheet.split('}');
  return (
    !rules.pop()!.trim() &&
    rules.every(rule => {
      const [selectors, declarations, ...more] = rule.split('{');
      return (
        !more.length &&
        declarations !== undefined &&
        selectors.split(',').every(each => SELECTOR.test(each.trim())) &&
        areSimple(declarations)
      );
    })
  );
}
