'use strict';
(() => {
  const kinds = { '+': 'put-in', '-': 'taken-out', '@': 'place', '\u2026': 'remark', '\\': 'remark', '<': 'remark', '>': 'remark' };

  // A difference is plain text until somebody looks at it: thousands of coloured lines
  // would make the page slow.
  const colour = (pre) => {
    if (pre.firstElementChild || pre.dataset.coloured) return;
    pre.dataset.coloured = 'yes';
    const lines = pre.textContent.replace(/\n$/, '').split('\n');
    pre.replaceChildren(...lines.map((line) => {
      const span = document.createElement('span');
      const kind = kinds[line[0]];
      if (kind) span.className = kind;
      span.textContent = line + '\n';
      return span;
    }));
    pre.tabIndex = 0; // or the keyboard could not scroll it
  };
  document.querySelectorAll('.cause pre.diff').forEach(colour);
  document.addEventListener('toggle', (e) => {
    if (e.target.open && e.target.closest('.cases')) e.target.querySelectorAll('pre.diff').forEach(colour);
  }, true);

  // What a link leads to is unfolded, and what it stands in.
  const unfold = () => {
    const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!at) return;
    if (at.hidden) filter('');
    const own = at.matches('details') ? at : at.querySelector(':scope > details');
    if (own) own.open = true;
    for (let d = at.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    at.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  document.addEventListener('click', (e) => {
    const a = e.target.closest('a[href^="#"]');
    if (a && a.hash === location.hash) unfold();
  });

  const form = document.querySelector('.filter');
  let filter = () => {};
  if (form) {
    const input = form.querySelector('input');
    const found = document.getElementById('found');
    const more = document.getElementById('unfold');
    const most = 200;
    const groups = [...document.querySelectorAll('details.verdict')].map((d) => ({
      details: d,
      open: d.open,
      rows: [...d.querySelectorAll('.cases > li')].map((li) => ({
        li,
        text: (li.querySelector('.name').textContent + ' ' + d.querySelector('.chip').textContent).toLowerCase(),
        causes: (li.dataset.causes || '').toLowerCase().split(' '),
      })),
    }));
    const all = groups.reduce((n, g) => n + g.rows.length, 0);
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const fits = (row) => words.every((w) => (/^g\d+$/.test(w) ? row.causes.includes(w) : row.text.includes(w)));
      let shown = 0;
      for (const g of groups) {
        let here = 0;
        for (const row of g.rows) {
          const hide = !fits(row);
          if (row.li.hidden !== hide) row.li.hidden = hide;
          if (!hide) here++;
        }
        g.details.hidden = here === 0;
        g.details.open = words.length > 0 ? here > 0 : g.open;
        shown += here;
      }
      found.textContent = words.length > 0 ? shown.toLocaleString('en') + ' of ' + all.toLocaleString('en') + ' cases' : '';
    };
    filter = (text) => {
      input.value = text;
      apply();
    };
    let due = 0;
    input.addEventListener('input', () => {
      cancelAnimationFrame(due);
      due = requestAnimationFrame(apply);
    });
    form.addEventListener('submit', (e) => e.preventDefault());
    more.addEventListener('click', () => {
      const rows = [];
      for (const g of groups) {
        if (!g.details.hidden) g.details.open = true;
        for (const row of g.rows) if (!row.li.hidden && row.li.querySelector('details')) rows.push(row.li);
      }
      rows.slice(0, most).forEach((li) => { li.querySelector('details').open = true; });
      found.textContent = rows.length > most ? 'the first ' + most + ' of ' + rows.length.toLocaleString('en') + ' are unfolded' : rows.length + ' unfolded';
    });
    for (const b of document.querySelectorAll('button[data-cause]')) {
      b.hidden = false;
      b.addEventListener('click', () => {
        filter(b.dataset.cause);
        form.scrollIntoView();
        input.focus({ preventScroll: true });
      });
    }
    form.hidden = false;
  }

  // On paper the causes are unfolded, and as they were afterwards.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details.cause:not([open])')];
    folded.forEach((d) => { d.open = true; });
  });
  addEventListener('afterprint', () => folded.forEach((d) => { d.open = false; }));

  unfold();
})();
