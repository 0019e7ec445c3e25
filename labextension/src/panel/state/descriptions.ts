/** What the tools do, for people; their own descriptions are written for the model. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  getnotebookcells: 'Read cells of the notebook',
  getcelloutputs: 'Read the output of a cell',
  addnotebookcell: 'Add a cell, and run it if wanted',
  updatenotebookcell: 'Change a cell in its place',
  runnotebookcells: 'Run cells, until one fails',
  deletenotebookcells: 'Delete cells',
  movenotebookcell: 'Move a cell',
  getactivedocument: 'See which document is in front',
  createnotebook: 'Make a new, empty notebook',
  createlexical: 'Make a new, empty document',
  listkernels: 'List the kernels that run or could be started',
  selectkernel: 'Connect the notebook to another kernel',
  executecode: 'Run code in the kernel without adding a cell',
  insertblock: 'Add a block to the document',
  insertblocks: 'Add blocks to the document',
  updateblock: 'Change a block of the document',
  deleteblocks: 'Delete blocks of the document',
  readblock: 'Read a block of the document',
  readallblocks: 'Read the whole document',
  runblock: 'Run a block of the document',
  runallblocks: 'Run the whole document',
  listavailableblocks: 'List the kinds of blocks',
  listfiles: 'List the files in a folder',
  readfile: 'Read a file',
  editfile: 'Change a file in its place',
  writefile: 'Write a file',
  searchchathistory: 'Search earlier sessions',
  getrecentturns: 'Read the last messages',
  getturnbyid: 'Read one earlier message',
  getcontextbyprovenance: 'Look up where an answer came from',
  listdatasets: 'List the data sets',
  loaddatasetfull: 'Load a data set into the kernel',
  updateplan: 'Show a plan, and keep it current',
  askuser: 'Ask you something'
};

/** What a tool does in a few words; of one that others added, its first sentence. */
export function describe(name: string, description: string): string {
  const key = name.toLowerCase().replace(/^datalayer_|_/g, '');
  return DESCRIPTIONS[key] ?? firstSentence(description);
}

function firstSentence(text: string): string {
  return /^[^\n]*?[.](?=\s|$)/.exec(text)?.[0] ?? text.split('\n')[0];
}
