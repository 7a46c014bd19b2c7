// The browser test appends this to a page. It looks at what the page shows, uses the table as a person would, and
// leaves what it found in the page.
addEventListener('load', () => {
  const found = {load_ms: performance.now(), elements: document.querySelectorAll('*').length};
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const shown = (element) => element.getBoundingClientRect().height > 0;

  found.marks = {};
  for (const id of ['ladder', 'size', 'offload', 'roofline', 'error', 'grades'])
    found.marks[id] = all(`#${id} .mark`).filter(shown).length;

  // In all lists of a product, all bars have the same ratio of width to value.
  const ratios = all('.product:not([hidden]) .bar').map((bar) => bar.getBoundingClientRect().width / bar.dataset.v);
  found.bar_scales = [Math.min(...ratios), Math.max(...ratios)];
  // On the logarithmic time axis of a chart, the marks' positions are linear in the logarithms of their values.
  const points = Array.from(document.querySelector('#size svg').querySelectorAll('.mark'), (mark) => {
    const box = mark.getBoundingClientRect();
    return [Math.log(mark.dataset.v), box.top + box.height / 2];
  });
  const low = points.reduce((a, b) => (a[0] < b[0] ? a : b)), high = points.reduce((a, b) => (a[0] > b[0] ? a : b));
  const slope = (high[1] - low[1]) / (high[0] - low[0]);
  found.time_slope = slope;
  found.time_off_line = Math.max(...points.map(([x, y]) => Math.abs(y - (low[1] + slope * (x - low[0])))));

  const rows = () => all('#table tbody tr').filter(shown);
  const column = (index) => rows().map((row) => row.cells[index].dataset.s).filter((s) => s !== undefined).map(Number);
  const isSorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);
  found.rows = rows().length;
  const speed = all('#table thead button').findIndex((button) => button.textContent === 'GFLOP/s');
  all('#table thead button')[speed].click();
  found.sorted_up = isSorted(column(speed), 1);
  all('#table thead button')[speed].click();
  found.sorted_down = isSorted(column(speed), -1);
  found.unknown_last = rows().at(-1).cells[speed].dataset.s === undefined;

  const type = (selector, value) => {
    const control = document.querySelector(selector);
    control.value = value;
    control.dispatchEvent(new Event('input', {bubbles: true}));
    control.dispatchEvent(new Event('change', {bubbles: true}));
  };
  type('.filters [data-column="1"]', 'DEVICE_9');
  found.rows_named = rows().length;
  type('.filters [data-column="2"]', 'wrong');
  found.rows_wrong = rows().length;
  found.count_text = document.querySelector('.filters output').textContent;
  type('.filters [data-column="1"]', '');
  type('.filters [data-column="2"]', '');
  found.rows_again = rows().length;

  type('#product', '0');
  found.first_product = all('.product').filter(shown).map((panel) => panel.querySelector('h3').firstChild.textContent.trim());

  found.width = innerWidth;
  found.too_wide = document.documentElement.scrollWidth - innerWidth;
  found.smallest_text = Math.min(...all('.plot text').map((text) => text.getBoundingClientRect().height));
  found.dark = matchMedia('(prefers-color-scheme: dark)').matches;
  found.background = getComputedStyle(document.documentElement).backgroundColor;

  const result = document.createElement('pre');
  result.id = 'found';
  result.textContent = JSON.stringify(found);
  document.body.append(result);
});
