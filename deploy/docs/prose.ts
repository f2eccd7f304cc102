/** A fenced block of code: what indents it, the fence, the words behind that, and the code. */
export const FENCE = /^( *)(`{3,}|~{3,})([^`\n]*)\n([\s\S]*?)^ *\2[`~]* *$/gm;

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

/** The page's prose: code in blocks and comments are blanks, so that everything else stays in its place. */
export function prose(text: string): string {
  return text.replaceAll(FENCE, blank).replaceAll(/<!--[\s\S]*?-->/g, blank);
}
