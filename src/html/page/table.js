// The rows as a table: sorted by a click on a heading, filtered by words and conditions. Rows about one kernel of a launch
// follow the row of their launch, paler, with the kernel's name.
const FIRST = ["device_name", "impl", "pass", "dtype", "batch", "heads", "kv_heads", "seqlen_q", "seqlen_kv", "head_dim", "causal", "window", "cache", "rest", "tile_m", "tile_n",
  "kernel", "status", "time_us", "tflops", "hbm_read_bytes", "hbm_write_bytes", "bytes_source", "model_bytes_err_pct", "workspace_bytes", "rel_err", "message"];
const AT_ONCE = 500;
const tableState = { sort: null, down: false, limit: AT_ONCE };

const isNumeric = (name) => allRows.every((row) => cell(row, name) === "" || Number.isFinite(Number(cell(row, name)))) && allRows.some((row) => cell(row, name) !== "");
const numericColumns = new Set(data.columns.filter((c) => isNumeric(c.name)).map((c) => c.name));

/** Short, for the eye; the exact text is the title of the cell. */
function shortText(name, text) {
  if (!numericColumns.has(name) || text === "") return text;
  const value = Number(text), unit = byName.get(name).unit;
  if (unit === "bytes") return bytesText(value);
  if (unit === "us") return timeText(value);
  if (unit === "flop") return flopsText(value);
  return Number.isInteger(value) ? text : digits(value, 4);
}

/** "a b=c d>4k": every word must be met. A word is met by any cell that holds it. */
function makeFilter(text) {
  const conditions = text.trim().toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const [, name, sign, value] = word.match(/^(\w+)(<=|>=|=|<|>)(.+)$/) || [];
    if (!name || !byName.has(name)) return (row) => data.columns.some((c) => cell(row, c.name).toLowerCase().includes(word));
    const size = value.match(/^(\d+)([km])$/);
    const wanted = size ? Number(size[1]) * { k: 1024, m: 1 << 20 }[size[2]] : Number(value);
    if (sign === "=") return (row) => (numericColumns.has(name) && cell(row, name) !== "" ? Number(cell(row, name)) === wanted : cell(row, name).toLowerCase() === value);
    const holds = { "<": (x) => x < wanted, ">": (x) => x > wanted, "<=": (x) => x <= wanted, ">=": (x) => x >= wanted }[sign];
    return (row) => number(row, name) !== null && holds(number(row, name));
  });
  return (row) => conditions.every((condition) => condition(row));
}

/** Empty cells come last, whichever way the column is sorted. */
function sorted(rows) {
  const { sort, down } = tableState;
  if (sort === null) return rows;
  return [...rows].sort((a, b) => {
    const left = cell(a, sort), right = cell(b, sort);
    if (left === "" || right === "") return (left === "") - (right === "");
    return (down ? -1 : 1) * byNumber(left, right) || a - b;
  });
}

function shownColumns() {
  const all = document.getElementById("all-columns").checked;
  const copies = { kv_heads: "heads", seqlen_kv: "seqlen_q" };  // columns that mostly say the same as another
  const varying = (name) => name === "status" || name === "kernel" || allRows.length === 1 || (byName.get(name).same === undefined
    && !(copies[name] && allRows.every((row) => cell(row, name) === cell(row, copies[name]))));
  return all ? data.columns.map((c) => c.name) : FIRST.filter((name) => byName.has(name) && varying(name));
}

function rowElement(row, names) {
  const bad = !verified(row);
  const part = cell(row, "kernel") !== "";
  return element("tr", { class: bad ? "unverified" : part ? "part" : null, title: bad ? unverified.get(row).why : null, "data-row": row }, ...names.map((name) => {
    const text = cell(row, name), short = shortText(name, text);
    const interval = name === "time_us" && cell(row, "time_lo_us") !== "" ? `, 95% interval ${cell(row, "time_lo_us")} to ${cell(row, "time_hi_us")}` : "";
    return element("td", { class: numericColumns.has(name) ? "number" : text.length > 40 ? "text" : null, title: short === text ? null : text + interval }, short);
  }));
}

/** A name may go on in the next line after an underscore, where the table must be narrow: on paper. */
const breakable = (name) => name.split("_").flatMap((part, i) => (i ? ["_", element("wbr"), part] : [part]));

function drawTable() {
  const names = shownColumns();
  const rows = sorted(allRows.filter(makeFilter(document.getElementById("filter").value)));
  const head = element("tr", {}, ...names.map((name) => {
    const { unit, meaning } = byName.get(name), active = tableState.sort === name;
    const button = element("button", { type: "button", title: meaning || null }, ...breakable(name), unit && unit !== "us" && unit !== "bytes" ? element("small", {}, unit) : "");
    button.addEventListener("click", () => {
      tableState.down = active && !tableState.down;
      tableState.sort = name;
      drawTable();
      [...document.querySelectorAll("#table th")].find((th) => th.dataset.column === name).firstChild.focus();
    });
    return element("th", { scope: "col", "data-column": name, class: numericColumns.has(name) ? "number" : null, "aria-sort": active ? (tableState.down ? "descending" : "ascending") : "none" }, button);
  }));
  const body = element("tbody", {}, ...rows.slice(0, tableState.limit).map((row) => rowElement(row, names)));
  document.getElementById("table").replaceChildren(element("thead", {}, head), body);
  document.getElementById("count").textContent = rows.length === allRows.length ? plural(rows.length, "row") : `${rows.length} of ${allRows.length} rows`;
  document.getElementById("cut").textContent = rows.length <= tableState.limit ? "" : `The first ${tableState.limit} of ${rows.length} rows.`;
  const more = document.getElementById("more");
  more.hidden = rows.length <= tableState.limit;
  more.textContent = `show all ${rows.length} rows`;
}

function startTable() {
  document.getElementById("filter").addEventListener("input", drawTable);
  document.getElementById("all-columns").addEventListener("change", drawTable);
  document.getElementById("more").addEventListener("click", () => { tableState.limit = Infinity; drawTable(); });
  drawTable();
}
