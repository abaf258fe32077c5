// The rows, as text; figures become numbers where they are needed. Everything shown goes through textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const byName = new Map(data.columns.map((column) => [column.name, column]));

function cell(row, name) {
  const column = byName.get(name);
  if (!column) return "";
  if (column.same !== undefined) return column.same;
  return column.words ? column.words[column.at[row]] : column.cells[row];
}

/** The number in a cell; null when it is empty or none. */
function number(row, name) {
  const text = cell(row, name);
  const value = text === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

const allRows = [...Array(data.row_count).keys()];
/** Rows about whole launches. A row about one kernel is a part of such a row: in the table, never drawn, in no choice. */
const caseRows = allRows.filter((row) => cell(row, "kernel") === "");
const unverified = new Map(data.unverified.map((entry) => [entry.row, entry]));
const verified = (row) => !unverified.has(row);

/** Devices are told apart by name, and by UUID where two of one name are in the file. */
const uuidsOfName = new Map();
for (const row of allRows) {
  const name = cell(row, "device_name");
  if (!uuidsOfName.has(name)) uuidsOfName.set(name, new Set());
  uuidsOfName.get(name).add(cell(row, "device_uuid"));
}
function deviceOf(row) {
  const name = cell(row, "device_name") || "unnamed device";
  return uuidsOfName.get(cell(row, "device_name")).size > 1 ? `${name} (${cell(row, "device_uuid") || "no UUID"})` : name;
}
const panelCell = (row, name) => (name === "device" ? deviceOf(row) : cell(row, name));

/** HBM bytes of a row and where they come from; the model's only where nothing else is known and it may stand in. */
function bytesOf(row, modelToo = false) {
  const read = number(row, "hbm_read_bytes"), written = number(row, "hbm_write_bytes");
  if (read !== null && written !== null) return { value: read + written, from: cell(row, "bytes_source") };
  const model = modelToo ? number(row, "model_hbm_bytes") : null;
  return model === null ? null : { value: model, from: "model" };
}
const SOURCES = { cupti: "measured (cupti)", counted: "counted", model: "modelled" };
const sourceText = (froms) => [...new Set(froms)].sort().map((from) => SOURCES[from] || from).join(", ");

/** Caches, not memory, served a case of which fewer than half of the compulsory bytes were moved. */
function servedByCache(row) {
  const bytes = bytesOf(row), least = number(row, "min_hbm_bytes");
  return bytes !== null && least !== null && bytes.value < least / 2;
}

/** Time, unless the timer could not tell it from nothing. */
const timeOf = (row) => (cell(row, "below_resolution") === "1" ? null : number(row, "time_us"));

/** The clock was held down while the row was measured: its times are longer than those of a cool or less limited chip. */
const throttled = (row) => cell(row, "throttle") !== "";
const THROTTLES = { sw_power_cap: "power cap", hw_power_brake: "power brake", sw_thermal: "heat", hw_thermal: "heat", hw_slowdown: "hardware slowdown", sync_boost: "sync boost" };
const clockRead = (row) => throttled(row) || number(row, "sm_clock_mhz") !== null;
/** "12 of 36 points ran below the boost clock (power cap): dot inside."; "" when none did. Rows of which nobody read the clock
 * (other tools wrote them) are counted apart: they may have been held down too. */
function throttleText(rows, noun = "point", mark = "dot inside") {
  const held = rows.filter(throttled), read = rows.filter(clockRead), others = rows.length - read.length;
  if (!held.length) return "";
  const why = new Set(held.flatMap((row) => cell(row, "throttle").split("|")).map((name) => THROTTLES[name] || name));
  return ` ${held.length} of ${plural(read.length, noun)} ran below the boost clock (${[...why].join(", ")})${mark ? `: ${mark}` : ""}.`
    + (others ? ` The clock of ${others} ${others === 1 ? "other was" : "others was"} not read.` : "");
}

/** What must fit: operands, results (LSE in fp32) and workspace. */
function memoryOf(row) {
  const element = { fp32: 4, fp16: 2, bf16: 2 }[cell(row, "dtype")];
  const workspace = number(row, "workspace_bytes");
  const n = (name) => number(row, name);
  if (!element || workspace === null) return null;
  const queries = n("batch") * n("heads") * n("seqlen_q"), keys = n("batch") * n("kv_heads") * n("seqlen_kv");
  const operands = 2 * (queries + keys) * n("head_dim") * element + 4 * queries;
  return { operands, needed: operands + workspace };
}

/** Of several rows of one implementation and length (tiles, repeats) the one with the smallest `value`. */
function bestRows(rows, value) {
  const best = new Map();
  for (const row of rows) {
    const v = value(row);
    if (v === null) continue;
    const key = `${cell(row, "impl")} ${cell(row, "seqlen_q")}`;
    if (!best.has(key) || v < value(best.get(key))) best.set(key, row);
  }
  return [...best.values()].sort((a, b) => number(a, "seqlen_q") - number(b, "seqlen_q"));
}
