import { python } from './languages.js';
import { scenarios } from './scenarios.js';

scenarios(python);
