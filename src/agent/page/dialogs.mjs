import { el } from './format.mjs';
import { ask, useToken } from './server.mjs';

const BY = 'tenure.by';

const dialog = () => document.getElementById('dialog');

/** Asks for what a change of an election needs, and makes it once that is confirmed. */
export function control({ title, text, path, confirm, fields = [], needsReason = true }) {
  const by = el('input', {
    name: 'by',
    required: true,
    maxlength: 200,
    autocomplete: 'name',
    value: localStorage.getItem(BY),
  });
  const reason = el('textarea', { name: 'reason', rows: 2, maxlength: 500, required: needsReason });
  const failure = el('p', { class: 'pill bad', role: 'alert', hidden: true });
  const go = el('button', { type: 'submit', class: 'main' }, confirm);
  const form = el(
    'form',
    { method: 'dialog' },
    el('h2', { id: 'dialog-title' }, title),
    el('p', {}, text),
    ...fields.map(({ label, input }) => el('label', {}, label, input)),
    el('label', {}, 'Why: everybody can read it in the history', reason),
    el('label', {}, 'Who you are', by),
    failure,
    el('div', { class: 'actions' }, el('button', { type: 'button', onclick: () => dialog().close() }, 'Cancel'), go),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    go.disabled = true;
    failure.hidden = true;
    localStorage.setItem(BY, by.value);
    const more = fields.map(({ name, input }) => [name, input.value]);
    const why = reason.value.trim() === '' ? {} : { reason: reason.value };
    try {
      await ask('POST', path, { by: by.value, ...why, ...Object.fromEntries(more) });
      dialog().close();
    } catch (error) {
      failure.textContent = error.message;
      failure.hidden = false;
    }
    go.disabled = false;
  });
  present(form);
  (fields[0]?.input ?? reason).focus();
}

/** Asks for the token of the sidecar; `then` is called when there is one to try. */
export function askForToken(then) {
  if (dialog().open) return;
  const token = el('input', { type: 'password', required: true, autocomplete: 'off' });
  const form = el(
    'form',
    { method: 'dialog' },
    el('h2', { id: 'dialog-title' }, 'This sidecar needs a token'),
    el('label', {}, 'Token: kept for this tab alone', token),
    el('div', { class: 'actions' }, el('button', { type: 'submit', class: 'main' }, 'Go on')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    useToken(token.value.trim());
    dialog().close();
    then();
  });
  present(form);
  token.focus();
}

function present(form) {
  dialog().replaceChildren(form);
  dialog().showModal();
}
