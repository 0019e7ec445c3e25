import { messageOf } from '../../api/errors';
import { Lesson, LessonChecked, Tutorial } from '../../api/types';
import { IEditor } from '../../notebook/editor';
import { IPanelClient } from '../../api/services';
import { IMemory } from '../../ui/memory';
import { nextLesson, parsePlace, placeText } from './lessons';
import { Observable } from '../../session/observable';

/** The tutorials as far as they are known. */
export interface ITutorials {
  list: readonly Tutorial[] | null;
  /** The tutorial that is being started. */
  starting?: string;
  problem?: string;
}

/** The lesson that is shown, and what was said of the answer to it. */
export interface IPlace {
  id: string;
  lesson: number;
  /** The session in which it was opened; of a new one nothing is known yet. */
  sessionId?: string | null;
  isChecking: boolean;
  verdict?: Pick<LessonChecked, 'passed' | 'feedback'>;
  problem?: string;
}

/** The tutorials, the lesson that is shown, and its check. */
export class TutorialController {
  constructor(
    private readonly _client: Pick<
      IPanelClient,
      'listTutorials' | 'startTutorial' | 'checkLesson'
    >,
    private readonly _editor: IEditor,
    private readonly _clientId: string,
    private readonly _memory: IMemory | null,
    /** The session that is shown. */
    private readonly _sessionId: () => string | null
  ) {
    _editor.changed.connect(this._onEditor, this);
    this._front = _editor.activeNotebook;
  }

  readonly known = new Observable<ITutorials>({ list: null });
  readonly place = new Observable<IPlace | null>(null);

  dispose(): void {
    this._editor.changed.disconnect(this._onEditor, this);
  }

  /** Ask which there are and how far they are. */
  async refresh(): Promise<void> {
    try {
      const { tutorials } = await this._client.listTutorials();
      this.known.patch({ list: tutorials, problem: undefined });
    } catch (error) {
      this.known.patch({ problem: messageOf(error) });
    }
  }

  /** Show the tutorial that the page showed before. */
  async restore(): Promise<void> {
    const remembered = parsePlace((await this._memory?.load()) ?? '');
    if (!remembered) {
      return;
    }
    await this.refresh();
    const tutorial = this.find(remembered.id);
    if (tutorial?.notebook && !this.place.current) {
      this._show(tutorial, remembered.lesson, remembered.sessionId);
    }
  }

  find(id: string): Tutorial | null {
    return this.known.current.list?.find(each => each.id === id) ?? null;
  }

  /** Make the tutorial's notebook where it is missing, open it and show the lesson to go on with. */
  async open(id: string): Promise<boolean> {
    this.known.patch({ starting: id, problem: undefined });
    try {
      await this._client.startTutorial(id, { clientId: this._clientId });
      await this.refresh();
    } catch (error) {
      await this.refresh();
      this.known.patch({ problem: messageOf(error) });
    }
    this.known.patch({ starting: undefined });
    const tutorial = this.find(id);
    if (!tutorial?.notebook || this.known.current.problem) {
      return false;
    }
    this._show(tutorial, nextLesson(tutorial), this._sessionId());
    await this._editor.reveal(tutorial.notebook);
    return true;
  }

  /** Show no lesson, until a tutorial is opened again. */
  close(): void {
    this._memory?.save(null);
    this.place.set(null);
  }

  /** The tutorial and the lesson that are shown. */
  get current(): { tutorial: Tutorial; lesson: Lesson } | null {
    const place = this.place.current;
    const tutorial = place && this.find(place.id);
    const lesson = tutorial?.lessons.find(
      ({ number }) => number === place?.lesson
    );
    return tutorial && lesson ? { tutorial, lesson } : null;
  }

  /** Go to another lesson of the tutorial, and to its cell. */
  async goTo(lesson: number): Promise<void> {
    const tutorial = this.current?.tutorial;
    if (tutorial) {
      this._show(tutorial, lesson);
      await this.reveal();
    }
  }

  /** Go to the tutorial's notebook, and in it to the cell of the lesson. */
  async reveal(): Promise<void> {
    const { tutorial, lesson } = this.current ?? {};
    if (tutorial?.notebook && lesson) {
      const { notebook } = tutorial;
      const cell = this._editor.lessonCell(notebook, lesson.number);
      await this._editor.reveal(notebook, cell ?? undefined);
    }
  }

  /** Run the learner's cell and say what is right and missing in it. */
  async check(): Promise<void> {
    const { tutorial, lesson } = this.current ?? {};
    const before = this.place.current;
    if (!tutorial || !lesson || !before || before.isChecking) {
      return;
    }
    const asked: IPlace = { ...before, isChecking: true, problem: undefined };
    this.place.set(asked);
    let answer: Partial<IPlace>;
    try {
      const { passed, feedback, tutorial } = await this._client.checkLesson(
        before.id,
        lesson.number,
        { clientId: this._clientId }
      );
      this._learn(tutorial);
      answer = { verdict: { passed, feedback } };
    } catch (error) {
      answer = { problem: messageOf(error), verdict: undefined };
    }
    if (this.place.current === asked) {
      this.place.set({ ...asked, ...answer, isChecking: false });
    }
  }

  private _show(
    tutorial: Tutorial,
    lesson = nextLesson(tutorial),
    sessionId = this.place.current?.sessionId
  ): void {
    const { id } = tutorial;
    this._memory?.save(placeText(id, lesson, sessionId));
    this.place.set({ id, lesson, sessionId, isChecking: false });
  }

  private _learn(tutorial: Tutorial): void {
    const list = this.known.current.list?.map(each =>
      each.id === tutorial.id ? tutorial : each
    );
    this.known.patch({ list: list ?? [tutorial] });
  }

  /** Another notebook came to the front: where it is another tutorial's, the card goes with it. */
  private _onEditor(): void {
    const front = this._editor.activeNotebook;
    if (front === this._front) {
      return;
    }
    this._front = front;
    const place = this.place.current;
    const tutorial = this.known.current.list?.find(
      ({ notebook }) => notebook !== undefined && notebook === front
    );
    if (place && tutorial && tutorial.id !== place.id) {
      this._show(tutorial);
    }
  }

  private _front: string | null;
}
