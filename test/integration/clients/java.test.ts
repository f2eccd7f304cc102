import { java } from './languages.js';
import { scenarios } from './scenarios.js';

scenarios(java);
