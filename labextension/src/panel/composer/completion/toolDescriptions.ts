/** What the tools do, for people; their own descriptions are written for the model. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  getnotebookcells: 'Read cells of the notebook',
  getcelloutputs: 'Read the output of a cell',
  getnotebookquality: 'Check the quality of the notebook',
  addnotebookcell: 'Add a cell and optionally run it',
  updatenotebookcell: 'Edit a cell',
  runnotebookcells: 'Run cells, stopping at the first error',
  deletenotebookcells: 'Delete cells',
  movenotebookcell: 'Move a cell',
  getactivedocument: 'Get the active document',
  createnotebook: 'Create an empty notebook',
  createlexical: 'Create an empty document',
  listkernels: 'List running and available kernels',
  selectkernel: 'Switch the notebook to another kernel',
  executecode: 'Run code in the kernel without adding a cell',
  insertblock: 'Add a block to the document',
  insertblocks: 'Add blocks to the document',
  updateblock: 'Edit a block of the document',
  deleteblocks: 'Delete blocks of the document',
  readblock: 'Read a block of the document',
  readallblocks: 'Read the whole document',
  runblock: 'Run a block of the document',
  runallblocks: 'Run the whole document',
  listavailableblocks: 'List block types',
  listfiles: 'List the files in a folder',
  readfile: 'Read a file',
  editfile: 'Edit a file',
  writefile: 'Write a file',
  searchchathistory: 'Search earlier sessions',
  getrecentturns: 'Read the last messages',
  getturnbyid: 'Read one earlier message',
  getcontextbyprovenance: 'Look up where an answer came from',
  listdatasets: 'List the data sets',
  loaddatasetfull: 'Load a data set into the kernel',
  updateplan: 'Show and update a plan',
  askuser: 'Ask you a question'
};

/** What a tool does in a few words; of one that others added, its first sentence. */
export function describe(name: string, description: string): string {
  const key = name.toLowerCase().replace(/^datalayer_|_/g, '');
  return DESCRIPTIONS[key] ?? firstSentence(description);
}

function firstSentence(text: string): string {
  return /^[^\n]*?[.](?=\s|$)/.exec(text)?.[0] ?? text.split('\n')[0];
}
