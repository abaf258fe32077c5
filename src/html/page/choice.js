// Which rows are drawn: one device, dtype, head_dim, mask, ..., and the implementations that are switched on.
const PROBLEM = ["heads", "kv_heads", "batch", "seqlen_kv"];
const PANEL = ["device", "pass", "dtype", "head_dim", "causal", "window", "cache", "rest", "fill", "threads"];

/** Sizes that would put two problems on one point are chosen too; batch that follows from the length is not. */
function ambiguous() {
  const problems = new Map(), split = [...PANEL];
  for (const extra of PROBLEM) {
    problems.clear();
    const clash = caseRows.some((row) => {
      const point = [...split, "seqlen_q"].map((name) => panelCell(row, name)).join("\x1f");
      const problem = PROBLEM.map((name) => cell(row, name)).join("\x1f");
      if (!problems.has(point)) problems.set(point, problem);
      return problems.get(point) !== problem;
    });
    if (clash) split.push(extra);
  }
  return split;
}
const byNumber = (a, b) => (a !== "" && b !== "" && Number.isFinite(a - b) ? a - b : a < b ? -1 : a > b ? 1 : 0);
const selectors = ambiguous()
  .map((name) => ({ name, values: [...new Set(caseRows.map((row) => panelCell(row, name)))].sort(byNumber) }))
  .filter((selector) => selector.values.length > 1);

const choice = {};
const hidden = new Set();
const matches = (row, wanted) => Object.entries(wanted).every(([name, value]) => panelCell(row, name) === value);
const chosenRows = () => caseRows.filter((row) => matches(row, choice) && !hidden.has(cell(row, "impl")));
const drawnRows = () => chosenRows().filter(verified);

/** Sets one selector and takes, for the others, what comes closest to the present choice and is in the file. */
function choose(name, value) {
  const candidates = caseRows.filter((row) => panelCell(row, name) === value);
  const alike = (row) => selectors.filter((s) => panelCell(row, s.name) === choice[s.name]).length + (verified(row) ? 0.5 : 0);
  const best = candidates.reduce((a, b) => (alike(b) > alike(a) ? b : a));
  for (const selector of selectors) choice[selector.name] = panelCell(best, selector.name);
}

const NAMES = { causal: "mask", device: "device" };
const valueText = (name, value) => (name === "causal" ? (value === "1" ? "causal" : "not causal")
  : ["batch", "seqlen_kv"].includes(name) ? sizeText(Number(value)) : value === "" ? "none" : value);

function drawControls(redraw) {
  const host = document.getElementById("choices");
  const boxes = new Map();
  for (const { name, values } of selectors) {
    const select = element("select", { id: `choose-${name}` }, ...values.map((v) => element("option", { value: v }, valueText(name, v))));
    select.addEventListener("change", () => {
      choose(name, select.value);
      for (const [other, box] of boxes) box.value = choice[other];
      redraw();
    });
    boxes.set(name, select);
    host.append(element("label", {}, `${NAMES[name] || name} `, select));
  }
  const first = caseRows.find(verified) ?? 0;
  for (const selector of selectors) choice[selector.name] = panelCell(first, selector.name);
  for (const [name, box] of boxes) box.value = choice[name];

  const legend = document.getElementById("legend");
  for (const impl of impls) {
    const key = svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" });
    key.append(marker(impl, 0, 0, "cupti"));
    const button = element("button", { type: "button", "aria-pressed": "true", "data-impl": impl, title: "show or hide" }, key, impl);
    button.addEventListener("click", () => {
      if (hidden.has(impl)) hidden.delete(impl); else hidden.add(impl);
      button.setAttribute("aria-pressed", String(!hidden.has(impl)));
      redraw();
    });
    legend.append(button);
  }
}

/** What is missing from the charts because it has no verified result. */
function undrawnText() {
  const counts = new Map();
  for (const row of chosenRows()) {
    if (!verified(row)) counts.set(unverified.get(row).kind, (counts.get(unverified.get(row).kind) || 0) + 1);
  }
  const parts = [...counts].map(([kind, count]) => `${count} ${kind}`);
  return parts.length ? `Not drawn: ${parts.join(", ")}; see the rows without a result below.` : "";
}
