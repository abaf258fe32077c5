// One colour and marker for each implementation, the same in every chart; colours are told apart by colour-blind readers too.
const LOOKS = {
  naive: ["naive", "square"], fused: ["fused", "circle"], flash2: ["fused", "circle"], "flash3-tma": ["rung1", "left"],
  "flash3-roles": ["rung2", "right"], "flash3-turns": ["rung3", "cross"], flash3: ["flash3", "diamond"], cudnn: ["cudnn", "down"],
  "torch-flash": ["torch-flash", "up"], "torch-cudnn": ["torch-cudnn", "down"], "torch-math": ["torch-math", "plus"],
};
/** For names that are not known: fifteen looks before one comes again. */
const SPARE = { colors: ["spare1", "spare2", "spare3"], shapes: ["pentagon", "up", "square", "diamond", "down"] };
const spare = (i) => [SPARE.colors[i % SPARE.colors.length], SPARE.shapes[i % SPARE.shapes.length]];
const known = Object.keys(LOOKS);
const rank = (impl) => (known.includes(impl) ? known.indexOf(impl) : known.length);
const impls = [...new Set(caseRows.map((row) => cell(row, "impl")))].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
const unknown = impls.filter((impl) => !LOOKS[impl]);

function look(impl) {
  const [name, shape] = LOOKS[impl] || spare(unknown.indexOf(impl));
  return { color: `var(--${name})`, shape };
}

const SHAPES = {  // corners on a circle of radius 1: count, angle of the first, or a list of points
  square: [4, 45], diamond: [4, 0], up: [3, -90], down: [3, 90], left: [3, 180], right: [3, 0], pentagon: [5, -90],
};
function markerPath(shape, x, y, r) {
  const [count, first] = SHAPES[shape] || [];
  if (shape === "plus") return `M${x - r},${y}h${2 * r}M${x},${y - r}v${2 * r}`;
  if (shape === "cross") return `M${x - r},${y - r}l${2 * r},${2 * r}M${x - r},${y + r}l${2 * r},${-2 * r}`;
  if (!count) return `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`;
  const corners = [...Array(count).keys()].map((i) => {
    const angle = ((first + (360 / count) * i) * Math.PI) / 180;
    return `${x + 1.2 * r * Math.cos(angle)},${y + 1.2 * r * Math.sin(angle)}`;
  });
  return `M${corners.join("L")}Z`;
}
/** Filled: measured by hardware counters. Open: counted. Pale: modelled. */
function marker(impl, x, y, from, r = 5) {
  const { color, shape } = look(impl);
  const fill = from === "counted" ? "var(--paper)" : color;
  return svg("path", { d: markerPath(shape, x, y, r), fill, stroke: color, "stroke-width": 1.7, "fill-opacity": from === "model" ? 0.3 : 1 });
}
