import { go } from './languages.js';
import { scenarios } from './scenarios.js';

scenarios(go);
