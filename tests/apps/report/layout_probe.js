// The browser test appends this to a page with one chart in each section, and reads what it leaves in the page.
addEventListener('load', () => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const shown = (element) => element.checkVisibility() && element.getBoundingClientRect().height > 0;
  const ratios = () => all('.product:not([hidden]) .bar').filter(shown)
      .map((bar) => bar.getBoundingClientRect().width / bar.dataset.v);
  const found = {};
  const section = document.querySelector('#error').getBoundingClientRect().width;
  for (const id of ['size', 'error', 'roofline']) {
    const charts = all(`#${id} .plot`).filter(shown);
    found[id] = {charts: charts.length, share: charts[0].getBoundingClientRect().width / section};
  }
  found.bars_folded = ratios().length;
  for (const fold of all('details')) fold.open = true;
  found.scales = [Math.min(...ratios()), Math.max(...ratios())];
  found.too_wide = document.documentElement.scrollWidth - innerWidth;
  const heights = all('.plot text').filter(shown).map((text) => text.getBoundingClientRect().height);
  found.text_heights = [Math.min(...heights), Math.max(...heights)];
  document.querySelector('#own-scales').click();
  found.own_scales = [Math.min(...ratios()), Math.max(...ratios())];
  const longest = all('.product:not([hidden]) .ladder').map((list) => Math.max(
      ...Array.from(list.querySelectorAll('.bar'),
                    (bar) => bar.getBoundingClientRect().width / bar.parentElement.getBoundingClientRect().width)));
  found.shortest_list = Math.min(...longest);

  const result = document.createElement('pre');
  result.id = 'found';
  result.textContent = JSON.stringify(found);
  document.body.append(result);
});
