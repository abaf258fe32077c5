// Figures for people: three digits and a unit.
function digits(value, count = 3) {
  if (value === 0) return "0";
  return String(Number(value.toPrecision(count)));
}
function scaled(value, units, step) {
  let at = 0;
  while (Math.abs(value) >= step * 0.9995 && at + 1 < units.length) { value /= step; ++at; }
  return `${digits(value)} ${units[at]}`;
}
const bytesText = (value) => scaled(value, ["B", "kB", "MB", "GB", "TB", "PB"], 1000);
const memoryText = (value) => scaled(value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const timeText = (us) => (us < 1 ? `${digits(us * 1000)} ns` : scaled(us, ["\u00b5s", "ms", "s"], 1000));
const rateText = (tflops) => scaled(tflops * 1000, ["GFLOP/s", "TFLOP/s", "PFLOP/s"], 1000);
const flopsText = (flops) => scaled(flops, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"], 1000);
/** 1024 -> "1k": sizes as the command line takes them. */
function sizeText(n) {
  if (n >= 1 << 20 && n % (1 << 18) === 0) return `${n / (1 << 20)}m`;
  return n >= 1024 && n % 256 === 0 ? `${n / 1024}k` : String(n);
}
/** 1.48x, 14.8x, 148x */
const ratioText = (ratio) => `${digits(ratio)}x`;

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A new element; attributes by name, children as elements or text. */
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}
/** Words with `commands` in them, as nodes. */
const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
function svg(name, attributes = {}, text = null) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return node;
}
