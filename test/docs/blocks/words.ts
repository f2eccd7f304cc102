/** One simple command of a script: its words, without quotes. */
export type SimpleCommand = readonly string[];

/**
 * The simple commands of a script, as far as pages use the shell: no functions, loops or here-documents. Assignments before a
 * command, redirections, comments and parentheses are left out.
 */
export function simpleCommands(script: string): SimpleCommand[] {
  const found: string[][] = [];
  for (const line of script.replaceAll('\\\n', ' ').split('\n')) {
    let command: string[] = [];
    const end = () => {
      if (command.length > 0) found.push(command);
      command = [];
    };
    const pieces = line.matchAll(
      /\s+|#.*$|&&|\|\||[;|&()]|>\s*\S+|((?:'[^']*'|"[^"]*"|[^\s'"#;|&()>])[^\s'";|&()>]*(?:'[^']*'|"[^"]*")*)/g,
    );
    for (const [piece, word] of pieces) {
      if (word === undefined) {
        if (/^(&&|\|\||[;|&()])$/.test(piece)) end();
        continue;
      }
      if (command.length === 0 && /^\w+=/.test(word)) continue;
      command.push(word.replaceAll(/['"]/g, ''));
    }
    end();
  }
  return found;
}
