/* The page "Try it": what each epsilon buys, from tables that docs/generate/try_page.py computed with the library.
   Written into docs/assets/try.js together with them; nothing is loaded, so it works offline and from a folder. */
(function () {
  "use strict";
  const TABLES = /*TABLES*/ null;
  const form = document.getElementById("try");
  if (!form) return;
  const field = (name) => form.querySelector(`[name=${name}]`);
  const show = (name, text) => { form.querySelector(`[data-show=${name}]`).textContent = text; };

  /* Linear between grid points, both in logarithms. */
  function place(grid, value) {
    const at = Math.min(Math.max(value, grid[0]), grid[grid.length - 1]);
    let i = 0;
    while (i < grid.length - 2 && grid[i + 1] < at) i += 1;
    const share = (Math.log(at) - Math.log(grid[i])) / (Math.log(grid[i + 1]) - Math.log(grid[i]));
    return [i, share];
  }
  function between(row, [i, share]) { return row[i] * (1 - share) + row[i + 1] * share; }
  function lookUp(table, epsilon, categories) {
    const [j, share] = place(TABLES.categories, categories);
    const at = place(TABLES.epsilons, epsilon);
    return between(table[j], at) * (1 - share) + between(table[j + 1], at) * share;
  }

  function number(value) {
    if (value >= 100) return Math.round(value).toLocaleString("en");
    return String(Number(value.toPrecision(2)));
  }
  function percent(share) { return `${number(100 * share)} %`; }

  /* Shares that fall like 1 / (rank + 1), as counts of n records. */
  function truth(n, categories) {
    const weights = Array.from({ length: categories }, (_, rank) => 1 / (rank + 2));
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => Math.round((n * weight) / sum));
  }
  /* A difference of two geometric numbers: the law of discrete Laplace noise. For the picture only: Math.random is no
     source for a release. */
  function noise(scale) {
    const geometric = () => Math.floor(-scale * Math.log(1 - Math.random()));
    return geometric() - geometric();
  }

  const MOST_BARS = 12;
  let drawn = [];
  function draw(state) {
    drawn = truth(state.n, state.categories).slice(0, MOST_BARS).map((count) => [count, count + noise(state.scale)]);
  }
  function picture(state) {
    const svg = form.querySelector("svg");
    const top = Math.max(...drawn.map(([count, noisy]) => Math.max(count, noisy + state.radius)), 1);
    const height = 22;
    const x = (value) => (Math.min(Math.max(value / top, 0), 1) * 300).toFixed(1);
    svg.setAttribute("viewBox", `0 0 360 ${height * drawn.length + 4}`);
    svg.innerHTML = drawn.map(([count, noisy], i) => {
      const y = i * height + 4;
      return `<g transform="translate(50 ${y})"><text x="-6" y="13" text-anchor="end">${i + 1}</text>` +
        `<rect class="noisy" width="${x(noisy)}" height="14"></rect>` +
        `<line class="reach" x1="${x(noisy - state.radius)}" x2="${x(noisy + state.radius)}" y1="7" y2="7"></line>` +
        `<line class="true" x1="${x(count)}" x2="${x(count)}" y1="-2" y2="16"></line></g>`;
    }).join("");
    const inside = drawn.filter(([count, noisy]) => Math.abs(count - noisy) <= state.radius).length;
    svg.setAttribute("aria-label", `Released counts of ${drawn.length} categories; ${inside} intervals hold the true count`);
    show("inside", `${inside} of ${drawn.length} intervals hold the true count.`);
    form.querySelector("tbody").innerHTML = drawn.map(([count, noisy], i) =>
      `<tr><th scope="row">${i + 1}</th><td>${count}</td><td>${Math.max(noisy, 0)}</td>` +
      `<td>${Math.max(Math.round(noisy - state.radius), 0)} to ${Math.max(Math.round(noisy + state.radius), 0)}</td></tr>`
    ).join("");
  }

  function read() {
    const state = {
      epsilon: 10 ** Number(field("epsilon").value),
      n: Math.round(10 ** Number(field("n").value)),
      categories: Math.round(10 ** Number(field("categories").value)),
    };
    state.error = lookUp(TABLES.error, state.epsilon, state.categories);
    state.radius = Math.ceil(lookUp(TABLES.radius, state.epsilon, state.categories) - 1e-9);
    state.guess = between(TABLES.guess, place(TABLES.epsilons, state.epsilon));
    state.scale = between(TABLES.scale, place(TABLES.epsilons, state.epsilon));
    const share = 1 / state.categories;
    state.chance = Math.sqrt((2 * state.n * share * (1 - share)) / Math.PI);
    return state;
  }
  function update(fresh) {
    const state = read();
    const mean = state.n / state.categories;
    const labels = { epsilon: number(state.epsilon), n: number(state.n), categories: String(state.categories) };
    for (const name of Object.keys(labels)) {
      show(name, labels[name]);
      field(name).setAttribute("aria-valuetext", labels[name]);
    }
    show("error", `${number(state.error)} records, ${percent(state.error / mean)} of an average category`);
    show("interval", `± ${number(state.radius)} records`);
    show("guess", `${(Math.ceil(1000 * state.guess - 1e-6) / 10).toFixed(1)} % instead of 50 %`);
    show("odds", `× ${number(state.guess / (1 - state.guess))}`);
    show("chance", state.error <= state.chance
      ? `Privacy costs less than chance: another sample of as many records would move a count by ${number(state.chance)}.`
      : `Privacy costs more than chance, which moves a count by ${number(state.chance)}: take more records, fewer categories or more budget.`);
    if (fresh) draw(state);
    picture(state);
  }
  form.addEventListener("input", () => update(true));
  form.querySelector("button").addEventListener("click", () => update(true));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  update(true);
})();
