import React, { Suspense, lazy } from 'react';

import type { IActionFormProps } from './ActionForm';

/** The form and its validator are loaded when the first form is opened. */
const ActionForm = lazy(() => import('./ActionForm'));

/** The form of an action. */
export function LazyForm(props: IActionFormProps): JSX.Element {
  return (
    <Suspense fallback={<p className="da-dim">Loading the form</p>}>
      <ActionForm {...props} />
    </Suspense>
  );
}
