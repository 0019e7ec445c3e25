import React from 'react';

/** Properties of `FolderFileNotice`. */
export interface IFolderFileNoticeProps {
  label: string;
  testId: string;
  /** What the file does, and whom the user has to trust. */
  question: string;
  /** What would be used. */
  children: React.ReactNode;
  allow: { label: string; testId: string; run: () => void };
  decline?: { label: string; testId: string; run: () => void };
}

/** Asks for a file of the server root, which counts only once the user allows it as it is. */
export function FolderFileNotice(props: IFolderFileNoticeProps): JSX.Element {
  const { label, testId, question, children, allow, decline } = props;
  return (
    <section
      className="da-notice da-mod-warning da-folder-file"
      aria-label={label}
      data-testid={testId}
    >
      <p>{question}</p>
      {children}
      <div className="da-buttons">
        {[allow, decline].map(
          each =>
            each && (
              <button
                key={each.testId}
                type="button"
                className="da-button"
                data-testid={each.testId}
                onClick={each.run}
              >
                {each.label}
              </button>
            )
        )}
      </div>
    </section>
  );
}
