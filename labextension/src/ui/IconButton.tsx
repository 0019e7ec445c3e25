import { LabIcon } from '@jupyterlab/ui-components';
import React, { forwardRef } from 'react';

/** Properties of an `IconButton`: those of a button, an icon and its name. */
export interface IIconButtonProps extends React.ButtonHTMLAttributes<HTMLButtonElement> {
  icon: LabIcon;
  label: string;
  'data-testid'?: string;
}

/** A button that is an icon, with a name for everybody who does not see it. */
export const IconButton = forwardRef<HTMLButtonElement, IIconButtonProps>(
  ({ icon, label, className, ...props }, ref) => {
    return (
      <button
        type="button"
        ref={ref}
        title={label}
        aria-label={label}
        className={`da-icon-button ${className ?? ''}`}
        {...props}
      >
        <icon.react tag="span" width="16px" height="16px" aria-hidden="true" />
      </button>
    );
  }
);
