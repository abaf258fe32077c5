// Puts the page together.
const byId = (id) => document.getElementById(id);

function plainTable(host, head, rows) {
  host.replaceChildren(element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((text) => element("td", { class: text.length > 40 ? "text" : null }, text))))));
}

/** "1980" or "1665 .. 1980": what the rows of one device say. */
function spread(rows, name) {
  const values = [...new Set(rows.map((row) => cell(row, name)).filter((text) => text !== ""))].sort(byNumber);
  return values.length <= 2 ? values.join(", ") : numericColumns.has(name) || name === "timestamp" ? `${values[0]} .. ${values[values.length - 1]}` : values.join(", ");
}

function drawEnvironment() {
  const facts = ["hostname", "threads", "compute_capability", "driver", "cuda", "library", "ecc", "power_limit_w", "sm_clock_mhz", "throttle", "device_uuid", "tool_version", "timestamp"]
    .filter((name) => allRows.some((row) => cell(row, name) !== ""));
  const devices = [...new Set(allRows.map(deviceOf))];
  const of = new Map(devices.map((device) => [device, allRows.filter((row) => deviceOf(row) === device)]));
  // Devices are the columns: they are few, the facts are many, and a phone or a sheet of paper is narrow.
  plainTable(byId("machines"), ["device", ...devices], [...facts.map((name) => [name, ...devices.map((device) => spread(of.get(device), name))]),
    ["rows", ...devices.map((device) => String(of.get(device).length))]]);
  for (const column of data.columns.filter((c) => c.same && !["command", "device_name", ...facts].includes(c.name))) {
    byId("constants").append(element("dt", { title: column.meaning || null }, column.name), element("dd", {}, `${column.same}${column.unit && !"0/1".includes(column.unit) ? ` ${column.unit}` : ""}`));
  }
  const counts = { cupti: "by hardware counters (CUPTI), in a run apart from the timing", counted: "counted by the host implementation, at the boundary between main memory and its tiles: no hardware counter" };
  const sources = Object.entries(counts).map(([name, how]) => [allRows.filter((row) => cell(row, "bytes_source") === name).length, name, how]).filter(([n]) => n)
    .map(([n, name, how]) => `HBM bytes, ${plural(n, "row")} (${name}): ${how}.`);
  sources.push("Times: measured, median of one launch, without counters. time_lo_us and time_hi_us: its 95% interval.");
  sources.push("model_*, min_hbm_bytes, executed_flops, exp_count: computed from the schedule and the shape, not measured.");
  byId("sources").append(...sources.map((text) => element("li", {}, text)));
}

function drawComparison() {
  if (!data.sentences.length && !data.pairs.length) return;
  byId("comparison").hidden = false;
  byId("comparison-hint").replaceChildren(...withCode(data.sentences_hint));
  byId("sentences").append(...data.sentences.map((text) => element("li", {}, text)));
  for (const group of data.pairs) {
    byId("pairs").append(element("details", {}, element("summary", {}, `${group.title}: ${group.lines.length} ${group.lines.length === 1 ? "pair" : "pairs"}`), element("ul", {}, ...group.lines.map((text) => element("li", {}, text)))));
  }
}

function drawMissing() {
  if (!data.unverified.length) return;
  byId("missing").hidden = false;
  plainTable(byId("missing-rows"), ["line", "row", "status", "why"], data.unverified.map((entry) => [String(entry.line), entry.label, entry.kind, entry.why]));
}

const charts = QUESTIONS.map((question) => new Chart(byId("charts"), question));
const tileCharts = new TileCharts(byId("charts"));
function redraw() {
  for (const chart of charts) chart.draw();
  tileCharts.draw();
  byId("undrawn").textContent = undrawnText();
}

const statuses = new Map();
for (const row of caseRows) statuses.set(cell(row, "status"), (statuses.get(cell(row, "status")) || 0) + 1);
const versions = [...new Set(allRows.map((row) => cell(row, "tool_version")).filter(Boolean))].map((version) => (/^\d/.test(version) ? `attnprof ${version}` : version));
const kernelRows = allRows.length - caseRows.length;
byId("summary").textContent = `${plural(caseRows.length, "row")} of ${data.file}${statuses.size ? ": " : ""}${[...statuses].map(([status, n]) => `${n} ${status}`).join(", ")}. ${[...new Set(allRows.map(deviceOf))].join("; ")}. ${versions.join(", ")}${versions.length ? "." : ""}`
  + (kernelRows ? ` ${plural(kernelRows, "more row")} about single kernels of these launches: in the table, not in the charts.` : "");
byId("made").textContent = `Made by attnprof ${data.version} report. This page is one file and loads nothing.`;
for (const note of data.notes) byId("summary").after(element("p", { class: "notice" }, note));

drawControls(redraw);
redraw();
drawComparison();
drawMissing();
startTable();
drawEnvironment();
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) redraw();
  width = innerWidth;
});
for (const paper of [true, false]) {
  addEventListener(paper ? "beforeprint" : "afterprint", () => {
    onPaper = paper;
    redraw();
  });
}
