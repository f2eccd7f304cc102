import type { Chronicle } from './chronicle.js';
import { clock, duration } from './format.js';
import type { Report } from './messages.js';
import type { Narrator } from './narrator.js';

/** Tells what the workers report, as far as it is of interest. */
export function telling(narrator: Narrator, chronicle: () => Chronicle): (worker: string, report: Report) => void {
  return (worker, report) => {
    switch (report.type) {
      case 'elected':
        narrator.say(
          `${worker} leads: term ${report.term}, token ${report.token}${since(chronicle(), report)}`,
          'green',
        );
        break;
      case 'suspect':
        narrator.say(`${worker} is suspect (${words(report.reason)}): no new work, no writes`, 'yellow');
        break;
      case 'leading':
        if (report.suspectMs > 0)
          narrator.say(`${worker} leads on: a renewal is confirmed after ${duration(report.suspectMs)}`);
        break;
      case 'lost':
        narrator.say(`${worker}: term ${report.term} is over (${words(report.reason)})`, 'yellow');
        break;
      case 'found':
        narrator.say(`${worker} finds batch ${clock(report.second)} begun by ${report.holder}, and settles it`);
        break;
      case 'refused':
        narrator.say(`${worker} is refused by the fence: token ${report.token} is below ${report.highest}`, 'green');
        break;
      case 'settled':
        if (report.last > report.first) {
          const count = report.last - report.first + 1;
          narrator.say(`${worker} settles ${count} batches at once: ${clock(report.first)} to ${clock(report.last)}`);
        }
        break;
      default:
    }
  };
}

function since(chronicle: Chronicle, { term, cause }: Report & { type: 'elected' }): string {
  const index = chronicle.terms.findIndex((story) => story.term === term);
  const [before, story] = [chronicle.terms[index - 1], chronicle.terms[index]];
  if (before === undefined || story === undefined || !Number.isFinite(before.endedAt)) return '';
  return `, ${duration(story.electedAt - before.endedAt)} after ${before.worker} (${cause})`;
}

function words(reason: string): string {
  return reason.replaceAll('_', ' ');
}
