// The page is complete without this: it only sorts and filters the table and switches the ladder's product.
'use strict';

const table = document.querySelector('#table table');
const body = table.tBodies[0];
const rows = Array.from(body.rows);
const headings = Array.from(table.tHead.rows[0].cells);

function sortKey(row, column) {
  const cell = row.cells[column];
  if (!headings[column].classList.contains('number')) return cell.textContent;
  return cell.dataset.s === undefined ? null : Number(cell.dataset.s);
}

function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null); // unknown is last, whichever way
  return direction * (typeof a === 'number' ? a - b : a.localeCompare(b));
}

function sortBy(column) {
  const heading = headings[column];
  const ascending = heading.getAttribute('aria-sort') !== 'ascending';
  for (const other of headings) other.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
  const keyed = rows.map((row) => [sortKey(row, column), row]);
  keyed.sort((x, y) => compare(x[0], y[0], ascending ? 1 : -1));
  body.append(...keyed.map(([, row]) => row));
}
headings.forEach((heading, column) => heading.querySelector('button').addEventListener('click', () => sortBy(column)));

const filters = document.querySelector('.filters');
const controls = Array.from(filters.querySelectorAll('[data-column]'));

function keeps(row) {
  return controls.every((control) => {
    if (!control.value) return true;
    const text = row.cells[control.dataset.column].firstChild?.textContent ?? '';
    return control.type === 'search' ? text.toLowerCase().includes(control.value.toLowerCase()) : text === control.value;
  });
}

function applyFilters() {
  let shown = 0;
  for (const row of rows) {
    row.hidden = !keeps(row);
    if (!row.hidden) ++shown;
  }
  filters.querySelector('output').textContent =
      shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
}
filters.addEventListener('input', applyFilters);
filters.addEventListener('submit', (event) => event.preventDefault());
applyFilters(); // a browser that goes back keeps what was typed

const product = document.querySelector('#product');
function showProduct() {
  for (const panel of document.querySelectorAll('[data-product]')) panel.hidden = panel.dataset.product !== product.value;
}
if (product) {
  product.addEventListener('change', showProduct);
  showProduct();
}
