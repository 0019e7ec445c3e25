import { asksForCells, asksForWork, pointsAtNotebook } from '../aboutNotebook';

describe('a message that points at the notebook', () => {
  it.each([
    'What is in this notebook?',
    'what did you find in this notebook?',
    'summarize the notebook',
    'Explain the whole notebook to me',
    'explain cell 3',
    'Why does the last cell fail?',
    'what does the first code cell print',
    'compare cells 2-4',
    'what does In [7] do?',
    'How can I speed up my code?',
    'what do these two plots show?',
    'why the error?',
    'what columns are in my data frame?',
    'Is there a bug in the current notebook?',
    'Was steht in diesem Notebook?',
    'Fasse das Notebook zusammen',
    'Warum schlägt Zelle 4 fehl?',
    'Erkläre mir den Fehler',
    'Que contient ce notebook ?',
    'explique la cellule 3',
    'D’où vient l’erreur ?',
    '¿Qué hay en este cuaderno?',
    'explica la celda 2',
    'O que há neste notebook?',
    'explique a célula 3',
    'Cosa fa questo notebook?',
    'spiega la cella 3',
    'Wat staat er in dit notebook?',
    'Co jest w tym notatniku?',
    'Что в этом ноутбуке?',
    'объясни ячейку 3',
    '这个笔记本里有什么？',
    '解释第3个单元格',
    'このノートブックには何がありますか？',
    'セル3を説明して',
    '이 노트북에 뭐가 있어?',
    'ماذا يوجد في هذا الدفتر؟'
  ])('%s', message => {
    expect(pointsAtNotebook(message, false)).toBe(true);
  });

  it.each(['explain this', 'What does this do?', 'what is wrong here?'])(
    '%s, where nothing was said before',
    message => {
      expect(pointsAtNotebook(message, true)).toBe(true);
      expect(pointsAtNotebook(message, false)).toBe(false);
    }
  );

  it.each([
    'what is a notebook?',
    'What are notebooks good for?',
    'What is the notebook format?',
    'How do I create a notebook?',
    'How does a Jupyter kernel work?',
    'what is the error function?',
    'Write a function that outputs primes',
    'a class that plots things',
    'how do I merge two data frames?',
    'What is a cell in a notebook?',
    'Create a new notebook about penguins',
    'what can you do?',
    'hello',
    'Was ist ein Notebook?',
    'Was ist das Notebook-Format?',
    "Qu'est-ce qu'un notebook ?",
    '¿Qué es un cuaderno?',
    "Cos'è un notebook?",
    'Что такое ноутбук?',
    '什么是笔记本？',
    'ノートブックとは何ですか？',
    '노트북이 뭐야?'
  ])('not: %s', message => {
    expect(pointsAtNotebook(message, true)).toBe(false);
  });
});

describe('a message that asks for work', () => {
  it.each([
    'Add a cell',
    'plot the mean of each group',
    'Fix it',
    'please clean the data',
    'Can you add a chart?',
    'Füge eine Zelle hinzu',
    'Kannst du die Daten bereinigen?',
    'ajoute un graphique',
    'agrega un gráfico',
    '添加一个图表'
  ])('%s', message => {
    expect(asksForWork(message)).toBe(true);
  });

  it.each([
    'what is a notebook?',
    'How do I create a notebook?',
    'Explain pandas merges',
    'can you explain pandas merges?',
    'hello',
    'Thanks!',
    'continue',
    'Create a new notebook about penguins',
    'Make a notebook',
    'Write down what you find in a new notebook',
    'write a file with the result',
    'Erstelle ein Notebook',
    'crée un notebook sur les pingouins',
    '新建一个笔记本',
    'ist das schnell?',
    'danke'
  ])('not: %s', message => {
    expect(asksForWork(message)).toBe(false);
  });
});

describe('asks for cells to be added, changed or run', () => {
  it.each([
    'Add a cell with the mean mileage by origin and run it',
    'Please run all cells',
    'can you delete the last cell?',
    'Füge eine Zelle hinzu und führe sie aus',
    'Supprime la dernière cellule',
    'Agrega una celda con la media'
  ])('%s', message => {
    expect(asksForCells(message)).toBe(true);
  });

  it.each([
    'How do I add a cell?',
    'Why does the second cell run so long?',
    'Do not run any cells',
    "Don't add a cell, just say what it would be",
    'Bitte nicht die Zelle ausführen',
    'Explain what the cells do',
    'Plot the weights'
  ])('not: %s', message => {
    expect(asksForCells(message)).toBe(false);
  });
});
