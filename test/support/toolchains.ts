/** Programs in other languages: their libraries are fetched once into the cache, and their sources compiled there. */
export { goEnvironment, goProgram, javaClasses, pythonWith } from '../../deploy/local/toolchains/index.js';
