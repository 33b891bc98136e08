/* The page "Try it": what each epsilon buys, from tables that docs/generate/try_page.py computed with the library.
   Written into docs/assets/try.js together with them; nothing is loaded, so it works offline and from a folder. */
(function () {
  "use strict";
  const TABLES = {"epsilons":[0.03162,0.03981,0.05012,0.0631,0.07943,0.1,0.1259,0.1585,0.1995,0.2512,0.3162,0.3981,0.5012,0.631,0.7943,1.0,1.259,1.585,1.995,2.512,3.162,3.981,5.012,6.31,7.943,10.0],"categories":[2,3,5,10,30,100,300,1000],"error":[[32.24,24.78,20.14,15.85,12.64,10.11,7.798,6.279,5.047,3.91,3.095,2.462,1.896,1.497,1.169,0.8464,0.6066,0.435,0.2836,0.1587,0.08242,0.03883,0.01358,0.004083,0.0006667,8.333e-05],[42.26,33.5,26.48,21.16,16.83,13.28,10.59,8.438,6.73,5.255,4.223,3.321,2.623,2.058,1.607,1.235,0.9222,0.6677,0.4682,0.2856,0.1607,0.07542,0.02567,0.006583,0.00125,0.00025],[50.59,40.27,32.11,25.27,19.9,16.32,12.64,10.06,8.0,6.413,4.991,3.989,3.154,2.47,1.964,1.52,1.159,0.8678,0.6222,0.4243,0.2577,0.1258,0.04925,0.014,0.002583,0.0005833],[57.6,45.47,36.04,28.55,22.5,17.93,14.33,11.49,9.032,7.202,5.681,4.51,3.52,2.811,2.218,1.72,1.327,1.004,0.7382,0.5197,0.3475,0.2069,0.09925,0.02808,0.00625,0.0005],[61.74,48.83,38.91,30.43,24.32,19.34,15.32,12.23,9.705,7.564,6.073,4.816,3.842,2.996,2.377,1.849,1.427,1.086,0.8115,0.5887,0.408,0.2544,0.1421,0.06242,0.01783,0.003333],[63.07,49.81,39.46,31.35,25.17,19.88,15.65,12.3,9.972,7.855,6.265,4.93,3.908,3.117,2.422,1.915,1.462,1.129,0.8417,0.6156,0.4189,0.2708,0.1646,0.08142,0.03333,0.007833],[62.81,49.76,39.28,31.33,25.09,19.99,15.85,12.56,10.02,8.001,6.301,5.013,3.966,3.074,2.421,1.903,1.503,1.127,0.8625,0.6204,0.4278,0.2767,0.1646,0.08092,0.03592,0.01017],[63.81,50.22,39.71,31.63,25.14,20.09,15.76,12.47,10.04,8.036,6.252,4.944,3.926,3.103,2.472,1.914,1.485,1.145,0.8456,0.6195,0.4373,0.2759,0.1633,0.08792,0.036,0.01142]],"radius":[[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0],[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0],[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0],[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0],[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0],[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0],[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0],[189,150,120,95,75,60,48,38,30,24,19,15,12,9,7,6,5,4,3,2,2,1,1,1,0,0]],"guess":[0.5079048,0.5099517,0.5125279,0.5157703,0.5198476,0.5249797,0.531434,0.5395428,0.5497108,0.5624724,0.5783985,0.5982317,0.6227419,0.6527168,0.6887546,0.7310593,0.7788547,0.8299123,0.880272,0.9249797,0.9593799,0.9816761,0.9933874,0.9981863,0.999646,0.9999556],"scale":[63.2511,50.2386,39.9042,31.6957,25.1794,20.0,15.8856,12.6183,10.0251,7.96178,6.32511,5.02386,3.99042,3.16957,2.51794,2.0,1.58856,1.26183,1.00251,0.796178,0.632511,0.502386,0.399042,0.316957,0.251794,0.2]};
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
