// One chart. `make` returns what to draw for the rows chosen: {series, floor, guides} over two axes, or {bars} in groups (a
// bar is one part, or several side by side, never upon each other, in a box as high as what they are held against); or a sentence that says why there is nothing. Every mark has lines of text for the tip, and can be reached with arrow keys.
const MARGIN = { right: 18, top: 12, bottom: 40 };
const tip = document.getElementById("tip");

function showTip(lines, x, y) {
  tip.replaceChildren(element("b", {}, lines[0]), ...lines.slice(1).map((line) => element("div", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 4))}px`;
  tip.style.top = `${y + 16 + box.height > innerHeight ? Math.max(4, y - box.height - 12) : y + 16}px`;
}
function hideTip() { tip.hidden = true; }

const LINE_HEIGHT = 270;
const PAPER = { wide: 720, half: 350 };  // pixels across a sheet: text then has a size that can be read
let onPaper = false;
/** Into so many lines go groups of bars whose parts would be narrower than a person can point at. */
function barLines(groups, width) {
  const parts = Math.max(...groups.map((group) => group.bars.reduce((sum, bar) => sum + bar.parts.length, 0)));
  const perLine = Math.max(1, Math.floor((width - 80) / (Math.max(parts, 1) * 4.5)));
  return parts > groups[0].bars.length ? Math.ceil(groups.length / perLine) : 1;
}
const swatch = (color) => {
  const box = svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" });
  box.append(svg("rect", { width: 10, height: 10, style: `fill:${color}` }));
  return box;
};

/** In a mark whose clock was held down; of the mark's own colour where that is open or pale. */
const heldDot = (x, y, fill = "var(--paper)") => svg("circle", { cx: x, cy: y, r: 1.8, class: "held", fill });

class Chart {
  constructor(host, spec) {
    this.spec = spec;
    this.log = { x: spec.logX ?? false, y: spec.logY ?? false };
    this.from = element("span", { class: "from" });
    this.plot = element("div", { class: "plot" });
    const caption = element("figcaption", {}, element("h2", {}, spec.title));
    for (const axis of spec.choosable || []) {
      const box = element("input", { type: "checkbox", checked: this.log[axis] });
      box.addEventListener("change", () => { this.log[axis] = box.checked; this.draw(); });
      caption.append(element("label", {}, box, ` log ${axis}`));
    }
    this.key = element("span", { class: "key" });
    caption.append(this.from, this.key);
    this.figure = element("figure", { id: `chart-${spec.id}`, class: spec.wide ? "wide" : null }, caption, this.plot);
    host.append(this.figure);
  }

  draw() {
    hideTip();
    const made = this.spec.make();
    this.from.replaceChildren(...withCode(made.from || ""));
    this.key.replaceChildren(...(made.key || []).map(([color, words]) => element("span", {}, swatch(color), words)));
    this.plot.classList.toggle("drawn", typeof made !== "string");
    if (typeof made === "string") {
      this.plot.replaceChildren(element("p", { class: "empty" }, ...withCode(made)));
      return;
    }
    const width = onPaper ? PAPER[this.spec.wide ? "wide" : "half"] : Math.max(this.plot.clientWidth, 240), lines = made.bars ? barLines(made.bars, width) : 1;
    const height = LINE_HEIGHT * lines;
    this.canvas = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img" });
    this.marks = [];
    const perLine = made.bars ? Math.ceil(made.bars.length / lines) : 0;
    for (let line = 0; line < lines; ++line) {
      this.area = { left: 60, right: width - MARGIN.right, top: LINE_HEIGHT * line + MARGIN.top, bottom: LINE_HEIGHT * (line + 1) - MARGIN.bottom };
      if (made.bars) this.drawBars(made, made.bars.slice(line * perLine, (line + 1) * perLine)); else this.drawPoints(made);
    }
    this.canvas.setAttribute("aria-label", `${this.spec.title}: ${this.marks.length} marks; arrow keys step through them`);
    this.ring = svg("circle", { class: "ring", r: 9, visibility: "hidden" });
    this.canvas.append(this.ring);
    this.plot.replaceChildren(this.canvas);
    this.listen();
  }

  text(x, y, words, attributes = {}) { this.canvas.append(svg("text", { x, y, ...attributes }, words)); }
  line(points, attributes) {
    this.canvas.append(svg("polyline", { points: points.map((p) => p.join(",")).join(" "), ...attributes }));
  }

  /** Room on the left for the longest label of the y axis and its name. */
  makeRoom(made, y) {
    this.area.left = 30 + 6.7 * Math.max(...y.ticks().map((tick) => made.yText(tick).length));
  }

  axes(made, y, xTicks, lower = 0) {
    const { left, right, top, bottom } = this.area;
    for (const tick of y.ticks()) {
      this.line([[left, y.scale(tick)], [right, y.scale(tick)]], { class: "grid" });
    }
    for (const tick of spaced(y.ticks(), y.scale, 15)) {
      this.text(left - 7, y.scale(tick) + 4, made.yText(tick), { "text-anchor": "end", class: "soft" });
    }
    for (const [at, words] of xTicks) this.text(at, bottom + 17 + lower, words, { "text-anchor": "middle", class: "soft" });
    this.line([[left, top], [left, bottom], [right, bottom]], { class: "axis", fill: "none" });
    this.text((left + right) / 2, bottom + 34 + lower, made.xLabel, { "text-anchor": "middle" });
    this.text(0, 0, made.yLabel, { "text-anchor": "middle", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)` });
  }

  /** What has a place on the axes: 0 has none on a log axis. Says how many points that leaves out; where it would be all of
   * them, the axis is linear. */
  onAxes(made) {
    const all = made.series.flatMap((s) => s.points), log = { ...this.log };
    for (const axis of ["x", "y"]) log[axis] = log[axis] && all.some((p) => p[axis] > 0);
    const fits = (p) => (!log.x || p.x > 0) && (!log.y || p.y > 0), only = (points) => points?.filter(fits);
    const lost = all.filter((p) => !fits(p)).length;
    if (lost) this.from.append(` ${plural(lost, "point")} at 0 ${lost === 1 ? "has" : "have"} no place on a log axis.`);
    return { ...made, log, series: made.series.map((s) => ({ ...s, points: only(s.points), dashed: only(s.dashed) })), floor: only(made.floor),
      guides: made.guides?.filter((guide) => guide.points.every(fits)) };
  }

  drawPoints(made) {
    made = this.onAxes(made);
    const points = made.series.flatMap((s) => s.points);
    const lines = [...made.series.flatMap((s) => s.dashed || []), ...(made.floor || []), ...(made.guides || []).flatMap((g) => g.points)];
    const bands = points.flatMap((p) => [p.low, p.high]).filter((edge) => edge > 0);
    const y = makeScale([...[...points, ...lines].map((p) => p.y), ...bands], this.area.bottom, this.area.top, made.log.y, made.yBase || 10, 0.06);
    this.makeRoom(made, y);
    const x = makeScale([...points, ...lines].map((p) => p.x), this.area.left, this.area.right, made.log.x, 2, 0.04);
    const at = (p) => [x.scale(p.x), y.scale(p.y)];
    const ticks = spaced(made.xTicks && made.log.x ? made.xTicks : x.ticks(), x.scale, 36);
    this.axes(made, y, ticks.map((tick) => [x.scale(tick), made.xText(tick)]));
    if (made.floor?.length) this.line(made.floor.map(at), { class: "floor" });
    for (const guide of made.guides || []) {
      const ends = guide.across ? guide.points.map((p, i) => ({ x: i ? x.high : x.low, y: p.y })) : guide.points;
      this.line(ends.map(at), { class: `guide ${guide.dashed ? "dashed" : ""}`, style: guide.color ? `stroke:${guide.color}` : "" });
      const [tx, ty] = at(ends[guide.at ?? 0]);
      if (guide.label) this.text(tx + (guide.at ? -4 : 4), ty - 6, guide.label, { class: "soft small", "text-anchor": guide.at ? "end" : "start" });
    }
    for (const series of made.series) {
      const color = look(series.impl).color;
      if (series.dashed) this.line(series.dashed.map(at), { class: "series dashed", style: `stroke:${color}` });
      const band = series.points.filter((p) => p.low && p.high);
      if (band.length > 1) {
        const edge = [...band.map((p) => at({ x: p.x, y: p.low })), ...band.map((p) => at({ x: p.x, y: p.high })).reverse()];
        this.canvas.append(svg("polygon", { points: edge.map((p) => p.join(",")).join(" "), class: "band", style: `fill:${color}` }));
      }
      if (series.joined) this.line(series.points.map(at), { class: "series", style: `stroke:${color}` });
      for (const point of series.points) {
        const [px, py] = at(point);
        const mark = point.crossed ? svg("path", { d: markerPath("cross", px, py, 5.5), class: "cross", stroke: color })
          : marker(series.impl, px, py, point.source);
        mark.dataset.impl = series.impl;
        mark.dataset.row = point.row;
        mark.classList.add(point.crossed ? "cross" : "point");
        this.canvas.append(mark);
        if (point.held) this.canvas.append(heldDot(px, py, point.source && point.source !== "cupti" ? color : "var(--paper)"));
        this.marks.push({ x: px, y: py, lines: point.lines });
      }
    }
  }

  /** Groups of bars, with ticks of their own under them where they have some. `made.level` is a line across. */
  drawBars(made, groups) {
    const y = makeScale([...made.bars.flatMap((group) => group.bars.flatMap((bar) => bar.parts.map((part) => part.value))), made.level ?? 0],
      this.area.bottom, this.area.top, false, 10, 0.2);
    this.makeRoom(made, y);
    const ticked = made.bars.some((group) => group.bars.some((bar) => bar.tick));
    if (ticked) this.area.bottom -= 14;
    y.scale = makeScale([y.low, y.high], this.area.bottom, this.area.top, false, 10, 0).scale;
    const { left, right, bottom } = this.area;
    const step = (right - left) / groups.length;
    this.axes(made, y, groups.map((group, i) => [left + (i + 0.5) * step, group.label]), ticked ? 14 : 0);
    groups.forEach((group, i) => {
      const width = Math.min((step * 0.9) / group.bars.length, 46 * group.bars[0].parts.length);
      let last = -Infinity;
      group.bars.forEach((bar, j) => {
        const x = left + (i + 0.5) * step + (j - group.bars.length / 2) * width, air = bar.box ? width * 0.06 : 0.5;
        const rect = (at, across, value, attributes) => this.canvas.append(svg("rect", { x: at, width: Math.max(across, 1), y: y.scale(value), height: y.scale(0) - y.scale(value), ...attributes }));
        if (bar.box) rect(x + air, width - 2 * air, bar.box, { class: "box" });
        const each = (width - 2 * air) / bar.parts.length, inner = bar.box ? each * 0.08 : 0;
        bar.parts.forEach((part, k) => {
          rect(x + air + k * each + inner, each - 2 * inner, part.value, { style: `fill:${part.color}`, class: "bar", "data-impl": bar.impl });
        });
        if (bar.held && width >= 5) this.canvas.append(heldDot(x + width / 2, y.scale(bar.parts[0].value) + 6));
        const top = Math.max(...bar.parts.map((part) => part.value));
        if (bar.text && width >= 9) {
          const tx = x + width / 2 + 4, ty = y.scale(top) - 4;
          this.text(0, 0, bar.text, { class: "small", transform: width >= 30 ? `translate(${tx - 4} ${ty}) ` : `translate(${tx} ${ty}) rotate(-90)`, "text-anchor": width >= 30 ? "middle" : "start" });
        }
        if (bar.tick && x + width / 2 - last >= 6.5 * bar.tick.length + 4) {
          last = x + width / 2;
          this.text(last, bottom + 13, bar.tick, { class: "soft small", "text-anchor": "middle" });
        }
        this.marks.push({ x: x + width / 2, y: y.scale(top / 2), lines: bar.lines, left: x, right: x + width, top: this.area.top, bottom });
      });
    });
    if (made.level !== undefined) this.line([[left, y.scale(made.level)], [right, y.scale(made.level)]], { class: "guide" });
  }

  show(mark, x, y) {
    this.current = this.marks.indexOf(mark);
    this.ring.setAttribute("cx", mark.x);
    this.ring.setAttribute("cy", mark.y);
    this.ring.setAttribute("visibility", "visible");
    const box = this.canvas.getBoundingClientRect();
    showTip(mark.lines, x ?? box.left + mark.x, y ?? box.top + mark.y);
  }
  hide() {
    this.ring.setAttribute("visibility", "hidden");
    hideTip();
  }

  listen() {
    this.current = -1;
    const nearest = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const x = event.clientX - box.left, y = event.clientY - box.top;
      const inside = this.marks.find((m) => m.left <= x && x < m.right && m.top <= y && y < m.bottom + 20);
      if (inside) return inside;
      const far = (m) => Math.hypot(m.x - x, m.y - y);
      const mark = this.marks.filter((m) => m.left === undefined).sort((a, b) => far(a) - far(b))[0];
      return mark && far(mark) < 28 ? mark : null;
    };
    const over = (event) => {
      const mark = nearest(event);
      if (mark) this.show(mark, event.clientX, event.clientY); else this.hide();
    };
    this.canvas.addEventListener("pointermove", over);
    this.canvas.addEventListener("pointerdown", over);
    this.canvas.addEventListener("pointerleave", () => this.hide());
    this.canvas.addEventListener("blur", () => this.hide());
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") this.hide();
      if (!step || !this.marks.length) return;
      event.preventDefault();
      const from = this.current < 0 ? (step > 0 ? -1 : 0) : this.current;
      this.show(this.marks[(from + step + this.marks.length) % this.marks.length]);
    });
  }
}
