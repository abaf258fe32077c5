// Tiles of one implementation and length: a heat map of time and bytes, and bytes against on-chip memory under the papers'
// bound N^2 d^2 / M (Dao et al. 2022, theorem 2).
const tiled = (rows) => rows.filter((row) => number(row, "tile_m") !== null && number(row, "tile_n") !== null);
const tileKey = (row) => `${cell(row, "tile_m")}x${cell(row, "tile_n")}`;
const picked = { key: null };

/** Implementation and length pairs of which at least two tiles have a verified time. */
function tileProblems() {
  const groups = new Map();
  for (const row of tiled(chosenRows())) {
    const key = `${cell(row, "impl")}, seqlen ${sizeText(number(row, "seqlen_q"))}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return new Map([...groups].filter(([, rows]) => new Set(rows.filter((r) => verified(r) && timeOf(r) !== null).map(tileKey)).size > 1));
}

const CIVIDIS = [[255, 233, 69], [188, 175, 111], [124, 123, 120], [66, 78, 108], [0, 34, 78]];  // light: small
function shade(value, low, high) {
  const at = high > low ? Math.log(value / low) / Math.log(high / low) : 0;
  const i = Math.min(Math.floor(at * 4), 3), part = at * 4 - i;
  const rgb = CIVIDIS[i].map((c, k) => Math.round(c + (CIVIDIS[i + 1][k] - c) * part));
  return `background:rgb(${rgb});color:${at > 0.55 ? "#fff" : "#000"}`;
}

/** Why a cell has no figure; no row: the tile is not in the file. */
function holeOf(row) {
  if (row === undefined) return { kind: "", why: "not in the file" };
  return { kind: unverified.get(row)?.kind ?? "", why: unverified.get(row)?.why ?? "no figure" };
}

/** One line for each kind of reason, to be read without a pointer and on paper: which tiles, and the first one's words. Reasons
 * that differ in their numbers alone are of one kind. */
function holeReasons(rows) {
  const measured = new Set(rows.filter((row) => verified(row) && timeOf(row) !== null).map(tileKey)), reasons = new Map();
  for (const row of rows) {
    if (measured.has(tileKey(row))) continue;
    const { kind, why } = holeOf(row), like = `${kind}: ${why.replace(/\d+/g, "#")}`;
    if (!reasons.has(like)) reasons.set(like, { kind, whys: new Set(), tiles: new Set() });
    reasons.get(like).whys.add(why);
    reasons.get(like).tiles.add(tileKey(row));
  }
  const lines = [...reasons.values()].map(({ kind, whys, tiles }) => `${[...tiles].join(", ")}${kind ? ` (${kind})` : ""}: ${whys.size > 1 ? "e.g. " : ""}${[...whys][0]}`);
  const count = (name) => new Set(rows.map((row) => cell(row, name))).size;
  if (count("tile_m") * count("tile_n") > new Set(rows.map(tileKey)).size) lines.push("Hatched without a word: not in the file.");
  return lines;
}

/** Of the verified rows of each tile (stages and warps may vary) the one with the smallest `value`. */
function bestTiles(rows, value) {
  const best = new Map();
  for (const row of rows) {
    if (!verified(row) || value(row) === null) continue;
    if (!best.has(tileKey(row)) || value(row) < value(best.get(tileKey(row)))) best.set(tileKey(row), row);
  }
  return [...best.values()];
}

/** Of tiles whose clock was held down while that of others was not, to be marked with a degree sign: which. */
function heldTiles(rows) {
  const timed = bestTiles(rows, timeOf), held = timed.filter(throttled);
  return new Set(held.length < timed.length ? held : []);
}

function heatTable(rows, caption, value, text, held = new Set()) {
  const axis = (name) => [...new Set(rows.map((row) => number(row, name)))].sort((a, b) => a - b);
  const best = new Map(bestTiles(rows, value).map((row) => [tileKey(row), row]));
  const all = [...best.values()].map(value), low = Math.min(...all), high = Math.max(...all);
  const level = high < 1.01 * low;  // differences that nobody would act on: one colour, no best
  const columns = axis("tile_n");
  const body = axis("tile_m").map((m) => element("tr", {}, element("th", { scope: "row", class: "number" }, String(m)), ...columns.map((n) => {
    const row = best.get(`${m}x${n}`);
    if (row !== undefined) return element("td", { style: shade(level ? low : value(row), low, level ? low : high), class: value(row) === low && !level ? "best" : null, title: describe(row).join("\n") }, text(value(row)) + (held.has(row) ? "\u2009\u00b0" : ""));
    const { kind, why } = holeOf(rows.find((r) => tileKey(r) === `${m}x${n}`));
    return element("td", { class: "hole", title: why }, kind);
  })));
  return element("table", {}, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, element("th", {}, "tile_m \\ tile_n"), ...columns.map((n) => element("th", { scope: "col" }, String(n))))), element("tbody", {}, ...body));
}

function makeBound() {
  const rows = (tileProblems().get(picked.key) || []).filter((row) => verified(row) && bytesOf(row, true)?.value > 0);
  if (new Set(rows.map((row) => cell(row, "tile_m"))).size < 2) return "Needs at least two tile_m of one problem.";
  const n = (row, name) => number(row, name), first = rows[0];
  const size = { fp32: 4, fp16: 2, bf16: 2 }[cell(first, "dtype")];
  const onchip = (row) => size * (2 * (n(row, "tile_m") + n(row, "tile_n")) * n(row, "head_dim") + n(row, "tile_m") * n(row, "tile_n"));
  const pairs = n(first, "batch") * n(first, "heads") * n(first, "seqlen_q") * n(first, "seqlen_kv");
  const unit = (m) => (size * size * pairs * n(first, "head_dim") ** 2) / m;  // N^2 d^2 / M elements, in bytes
  const constant = Math.min(...rows.map((row) => bytesOf(row, true).value / unit(onchip(row))));
  const ms = rows.map(onchip), low = Math.min(...ms) / 1.2, high = Math.max(...ms) * 1.2;
  const guides = [{ dashed: true, color: look(cell(first, "impl")).color, points: [low, high].map((x) => ({ x, y: constant * unit(x) })) }];
  const key = [[look(cell(first, "impl")).color, `bound: ${digits(constant, 2)} \u00d7 N\u00b2d\u00b2/M`]];
  const base = ofImpl(caseRows.filter((row) => matches(row, choice) && verified(row) && n(row, "seqlen_q") === n(first, "seqlen_q")), data.reference);
  const standard = base.map((row) => bytesOf(row)?.value).filter((v) => v !== undefined);
  if (standard.length && data.reference !== cell(first, "impl")) {
    const height = Math.min(...standard), elements = pairs + n(first, "batch") * n(first, "heads") * n(first, "seqlen_q") * n(first, "head_dim");
    key.push([look(data.reference).color, `${data.reference}: ${digits(height / (size * elements), 2)} \u00d7 (Nd + N\u00b2)`]);
    guides.push({ dashed: true, color: look(data.reference).color, points: [low, high].map((x) => ({ x, y: height })) });
  }
  const least = n(first, "min_hbm_bytes");
  return { series: [{ impl: cell(first, "impl"), points: rows.map((row) => ({ row, x: onchip(row), y: bytesOf(row, true).value, source: bytesOf(row, true).from,
    lines: [...describe(row), `M = ${memoryText(onchip(row))}`] })) }], guides, floor: least === null ? [] : [{ x: low, y: least }, { x: high, y: least }],
    key, xLabel: "M: on-chip memory of the tile (Q, O, K, V, scores)", yLabel: "read + written", xText: memoryText, yText: bytesText,
    from: `Bytes ${sourceText(rows.map((row) => bytesOf(row, true).from))}. The bound's constant is fitted: the largest with which no tile lies below it. Grey: compulsory.` };
}

/** The heat maps and the bound; nothing at all where no two tiles were measured. */
class TileCharts {
  constructor(host) {
    this.select = element("select", { id: "choose-tiles" });
    this.select.addEventListener("change", () => { picked.key = this.select.value; this.draw(); });
    this.maps = element("div", { class: "heat scroll" });
    this.holes = element("ul", { class: "hint holes" });
    this.figure = element("figure", { id: "chart-tiles", class: "wide" }, element("figcaption", {}, element("h2", {}, "Which tile?"),
      element("label", {}, "of ", this.select), element("span", { class: "from" }, "Light: small. Framed: best, unless all are within 1%. Hatched: no verified result.")), this.maps, this.holes);
    host.append(this.figure);
    this.bound = new Chart(host, { id: "io-bound", title: "The papers' IO bound over tiles", make: makeBound, logX: true, logY: true, wide: true, choosable: ["x", "y"] });
  }
  draw() {
    const problems = tileProblems();
    this.figure.hidden = this.bound.figure.hidden = problems.size === 0;
    if (!problems.size) return;
    if (!problems.has(picked.key)) picked.key = [...problems.keys()][0];
    this.select.replaceChildren(...[...problems.keys()].map((key) => element("option", { value: key, selected: key === picked.key }, key)));
    const rows = problems.get(picked.key);
    const froms = rows.filter(verified).map((row) => bytesOf(row, true)?.from).filter(Boolean);
    const maps = [heatTable(rows, "Time (median, measured)", timeOf, timeText, heldTiles(rows))];
    if (froms.length) maps.push(heatTable(rows, `Bytes (${sourceText(froms)})`, (row) => bytesOf(row, true)?.value ?? null, bytesText));
    this.maps.replaceChildren(...maps);
    const held = throttleText(bestTiles(rows, timeOf), "tile", heldTiles(rows).size ? "\u00b0" : "").trim();
    this.holes.replaceChildren(...[...holeReasons(rows), held].filter(Boolean).map((line) => element("li", {}, line)));
    this.bound.draw();
  }
}
