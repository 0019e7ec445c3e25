import { ReadonlyJSONObject } from '@lumino/coreutils';
import { customizeValidator } from '@rjsf/validator-ajv8';

import { FormField, readable } from './FormField';

/** What all forms of a JSON schema share: their fields, their errors, and how they are checked. */
export const SCHEMA_FORM = {
  validator: customizeValidator<ReadonlyJSONObject>(),
  templates: { FieldTemplate: FormField },
  transformErrors: readable,
  // The first of the choices is not chosen for the user.
  experimental_defaultFormStateBehavior: { constAsDefaults: 'never' },
  showErrorList: false,
  noHtml5Validate: true
} as const;
