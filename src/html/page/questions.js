// One chart per question. Points are verified rows; of several tiles the fastest stands for its implementation.
const lengths = (rows) => [...new Set(rows.map((row) => number(row, "seqlen_q")))].sort((a, b) => a - b);
const implsOf = (rows) => impls.filter((impl) => rows.some((row) => cell(row, "impl") === impl));
const ofImpl = (rows, impl) => rows.filter((row) => cell(row, "impl") === impl);
const tileText = (row) => (cell(row, "tile_m") ? `tile ${cell(row, "tile_m")} x ${cell(row, "tile_n")}` : null);

function describe(row) {
  const interval = number(row, "time_lo_us") === null ? "" : ` (${timeText(number(row, "time_lo_us"))} to ${timeText(number(row, "time_hi_us"))})`;
  const bytes = bytesOf(row), rate = number(row, "tflops");
  return [
    `${cell(row, "impl")}, seqlen ${sizeText(number(row, "seqlen_q"))}`, tileText(row),
    timeOf(row) === null ? null : `time ${timeText(timeOf(row))}${interval}`,
    bytes === null ? null : `bytes ${bytesText(bytes.value)}, ${sourceText([bytes.from])}`,
    rate === null ? null : rateText(rate),
    throttled(row) ? `clock held down: ${cell(row, "throttle")}${number(row, "sm_clock_mhz") === null ? "" : `, ${cell(row, "sm_clock_mhz")} MHz`}` : null,
  ].filter((line) => line !== null);
}
const bySeqlen = (rows) => ({ xLabel: "sequence length", xText: sizeText, xTicks: lengths(rows) });
const point = (row, y, more = {}) => ({ row, x: number(row, "seqlen_q"), y, lines: describe(row), ...more });

function makeBytes() {
  const rows = bestRows(drawnRows().filter((row) => bytesOf(row) !== null), (row) => bytesOf(row).value);
  if (!rows.length) return "No HBM bytes, measured or counted, in these rows.";
  const series = implsOf(rows).map((impl) => {
    const mine = ofImpl(rows, impl);
    return {
      impl, points: mine.map((row) => point(row, bytesOf(row).value, { source: bytesOf(row).from, lines: [...describe(row),
        number(row, "model_hbm_bytes") === null ? null : `model ${bytesText(number(row, "model_hbm_bytes"))}`].filter(Boolean) })),
      dashed: mine.filter((row) => number(row, "model_hbm_bytes") !== null).map((row) => ({ x: number(row, "seqlen_q"), y: number(row, "model_hbm_bytes") })),
    };
  });
  const least = new Map(rows.filter((row) => number(row, "min_hbm_bytes") !== null).map((row) => [number(row, "seqlen_q"), number(row, "min_hbm_bytes")]));
  return { ...bySeqlen(rows), series, floor: [...least].map(([x, y]) => ({ x, y })), yLabel: "read + written", yText: bytesText,
    from: `Points: ${sourceText(rows.map((row) => bytesOf(row).from))}. Dashed: each schedule's model. Grey: compulsory, every operand once.` };
}

function makeTime() {
  const rows = bestRows(drawnRows(), timeOf);
  if (!rows.length) return "No times in these rows.";
  const series = implsOf(rows).map((impl) => ({ impl, joined: true, points: ofImpl(rows, impl).map((row) =>
    point(row, timeOf(row), { low: number(row, "time_lo_us"), high: number(row, "time_hi_us"), held: throttled(row) })) }));
  return { ...bySeqlen(rows), series, yLabel: "time", yText: timeText, from: `Measured: median of one launch; band: its 95% interval.${throttleText(rows)}` };
}

function makeSpeedup() {
  const every = caseRows.filter((row) => matches(row, choice) && verified(row));  // the reference counts even when it is hidden
  const base = new Map(bestRows(ofImpl(every, data.reference), timeOf).map((row) => [number(row, "seqlen_q"), timeOf(row)]));
  if (!base.size) return `No verified row of ${data.reference || "a reference"} here to compare with.`;
  const rows = bestRows(drawnRows(), timeOf).filter((row) => cell(row, "impl") !== data.reference && base.has(number(row, "seqlen_q")));
  if (!rows.length) return `Nothing to hold against ${data.reference} here.`;
  const ratio = (row) => base.get(number(row, "seqlen_q")) / timeOf(row);
  const series = implsOf(rows).map((impl) => ({ impl, joined: true, points: ofImpl(rows, impl).map((row) =>
    point(row, ratio(row), { held: throttled(row), lines: [...describe(row), `${ratioText(ratio(row))} the speed of ${data.reference}`] })) }));
  const ends = lengths(rows);
  return { ...bySeqlen(rows), series, guides: [{ across: true, points: [{ x: ends[0], y: 1 }, { x: ends[ends.length - 1], y: 1 }] }],
    yLabel: `time of ${data.reference} / time`, yText: ratioText, from: `Measured times of verified rows.${throttleText(rows)}` };
}

function makeRates() {
  const rows = bestRows(drawnRows().filter((row) => number(row, "tflops") !== null), timeOf);
  if (!rows.length) return "No rates in these rows.";
  const unit = Math.max(...rows.map((row) => number(row, "tflops"))) >= 1 ? 1 : 1000;
  const bars = lengths(rows).map((length) => ({ label: sizeText(length), bars: implsOf(rows).map((impl) => {
    const row = ofImpl(rows, impl).find((r) => number(r, "seqlen_q") === length);
    const value = row === undefined ? 0 : number(row, "tflops") * unit;
    const lines = row === undefined ? [`${impl}, seqlen ${sizeText(length)}`, "no verified row"] : describe(row);
    return { impl, parts: [{ value, color: look(impl).color }], lines, held: row !== undefined && throttled(row), text: value ? digits(value, value >= 100 ? 3 : 2) : "" };
  }) }));
  return { bars, xLabel: "sequence length", yLabel: unit === 1 ? "TFLOP/s" : "GFLOP/s", yText: (v) => digits(v),
    from: `FLOPs of the unmasked products (exact count) over the measured time.${throttleText(rows, "bar")}` };
}

/** The rates that limit: given to the command first, then the file's ceilings. */
function roofOf(rows) {
  const find = (name, flag) => {
    if (data.given[name] !== undefined) return { value: data.given[name], from: flag };
    const known = rows.map((row) => number(row, `ceiling_${name}`)).filter((v) => v !== null);
    return known.length ? { value: Math.max(...known), from: "from the file" } : null;
  };
  const copy = find("copy_gbps", "--copy-gbps"), matrix = find("matrix_tflops", "--matrix-tflops");
  const known = [copy && [`${digits(copy.value, 4)} GB/s`, copy.from], matrix && [matrix.value < 1 ? rateText(matrix.value) : `${digits(matrix.value, 4)} TFLOP/s`, matrix.from]].filter(Boolean);
  const shared = known.length === 2 && copy.from === matrix.from;  // said once
  const text = known.length ? `Roof: ${known.map(([rate, from]) => (shared ? rate : `${rate} (${from})`)).join(", ")}${shared ? ` (${copy.from})` : ""}.`
    : "No roof: the file holds no ceilings. `attnprof ceilings` measures them for later sweeps; `attnprof report --copy-gbps --matrix-tflops` takes them by hand.";
  return { copy: copy?.value, matrix: matrix?.value, text };
}

const intensityText = (v) => (v >= 1024 && v % 1024 === 0 ? sizeText(v) : scaled(v, ["", "k", "M", "G", "T"], 1000).trim());
function makeRoofline() {
  const usable = drawnRows().filter((row) => bytesOf(row, true)?.value > 0 && !servedByCache(row) && number(row, "tflops") !== null && number(row, "model_flops") !== null);
  const rows = bestRows(usable, timeOf);
  if (!rows.length) return "No rates with bytes in these rows.";
  const roof = roofOf(rows);
  const intensity = (row) => number(row, "model_flops") / bytesOf(row, true).value;
  const series = implsOf(rows).map((impl) => ({ impl, joined: true, points: ofImpl(rows, impl).map((row) => ({
    row, x: intensity(row), y: number(row, "tflops"), held: throttled(row), source: bytesOf(row, true).from,
    lines: [...describe(row), `${digits(intensity(row))} FLOPs per byte, bytes ${sourceText([bytesOf(row, true).from])}`] })) }));
  const xs = rows.map(intensity), guides = [];
  const ridge = roof.copy && roof.matrix ? (roof.matrix * 1000) / roof.copy : null;
  const low = Math.min(...xs, ridge ?? Infinity) / 1.5, high = Math.max(...xs, ridge ?? 0) * 1.5;
  if (roof.copy) guides.push({ label: "", points: [low, ridge ?? high].map((x) => ({ x, y: (roof.copy * x) / 1000 })) });
  if (roof.matrix) guides.push({ at: 1, label: rateText(roof.matrix), points: [ridge ?? low, high].map((x) => ({ x, y: roof.matrix })) });
  return { series, guides, xLabel: "FLOPs per byte of main memory", yLabel: "model FLOPs / time", xText: intensityText, yText: rateText,
    from: `Bytes ${sourceText(rows.map((row) => bytesOf(row, true).from))}. ${roof.text}${throttleText(rows)}` };
}

function makeMemory() {
  const rows = chosenRows().filter((row) => (verified(row) || cell(row, "status") === "oom") && memoryOf(row) !== null);
  if (!rows.length) return "No workspace in these rows.";
  const best = bestRows(rows, (row) => memoryOf(row).needed);
  const series = implsOf(best).map((impl) => ({ impl, joined: true, points: ofImpl(best, impl).map((row) => {
    const oom = cell(row, "status") === "oom";
    return point(row, memoryOf(row).needed, { crossed: oom, lines: [`${impl}, seqlen ${sizeText(number(row, "seqlen_q"))}`,
      `needs ${memoryText(memoryOf(row).needed)}, ${memoryText(number(row, "workspace_bytes"))} of it workspace`, ...(oom ? ["does not fit: not run"] : [])] });
  }) }));
  const operands = new Map(best.map((row) => [number(row, "seqlen_q"), memoryOf(row).operands]));
  const free = best.map((row) => number(row, "available_bytes")).filter((v) => v !== null);
  const ends = lengths(best), most = Math.max(...free);
  return { ...bySeqlen(best), series, floor: [...operands].sort((a, b) => a[0] - b[0]).map(([x, y]) => ({ x, y })), yBase: 4, yLabel: "operands + workspace", yText: memoryText,
    guides: free.length ? [{ across: true, dashed: true, label: `free: ${memoryText(most)}`, points: [{ x: ends[0], y: most }, { x: ends[ends.length - 1], y: most }] }] : [],
    from: "From shapes and each implementation's workspace. Grey: operands and results alone. Crosses: did not fit (status oom)." };
}

// What each part of the machine would take of a case's time, were it alone. They work at the same time: never added up.
const anyGpu = caseRows.some((row) => cell(row, "device") === "gpu");
const PARTS = [[anyGpu ? "HBM" : "main memory", "var(--naive)"], [anyGpu ? "matrix units" : "arithmetic", "var(--fused)"], ["exponentials", "var(--torch-math)"], ["no kernel ran", "var(--ink)"]];
function makeParts() {
  const rows = bestRows(drawnRows(), timeOf), roof = roofOf(rows);
  const exp = Math.max(...rows.map((row) => number(row, "ceiling_exp_gops") ?? 0));
  const flopsOf = (row) => number(row, "tensor_flops") ?? number(row, "executed_flops");
  // idle_us compares two runs: where the clock was held down in one, it says more about the clock than about launches.
  const idle = (row) => (throttled(row) ? null : number(row, "idle_us")) ?? number(row, "gaps_us");
  const over = (value, rate) => (value === null || value === undefined || !rate ? null : value / rate);
  const parts = (row) => [over(bytesOf(row, true)?.value, (roof.copy ?? 0) * 1e3), over(flopsOf(row), (roof.matrix ?? 0) * 1e6), over(number(row, "exp_count"), exp * 1e3), idle(row)];
  const shares = (row) => parts(row).map((us) => (us === null ? null : (100 * us) / timeOf(row)));
  if (!rows.length) return "No times in these rows.";
  const known = PARTS.map((_, i) => rows.some((row) => parts(row)[i] !== null));
  const missing = PARTS.slice(0, 3).filter((_, i) => !known[i]).map(([name]) => name);
  const cure = missing.length ? `Not known: ${missing.join(", ")}. \`attnprof ceilings\` measures what the machine can do; the rows of sweeps after it are held against that.` : "";
  if (missing.length === 3) {
    const gaps = rows.map((row) => shares(row)[3]).filter((share) => share !== null);
    return cure + (gaps.length ? ` Measured: no kernel ran in ${rangeText(gaps)} of the time.` : "");
  }
  const usable = rows.filter((row) => parts(row).some((part) => part !== null));
  const bars = implsOf(usable).map((impl) => ({ label: impl, bars: ofImpl(usable, impl).map((row) => {
    const lines = PARTS.map(([name], i) => (parts(row)[i] === null ? null : `${name}: ${timeText(parts(row)[i])}, ${digits(shares(row)[i])}% of the time`));
    return { impl, row, lines: [...describe(row), ...lines.filter(Boolean)], tick: sizeText(number(row, "seqlen_q")), box: 100,
      parts: PARTS.map(([, color], i) => ({ value: shares(row)[i] ?? 0, color })).filter((_, i) => known[i]) };
  }) }));
  const counted = usable.some((row) => number(row, "tensor_flops") !== null) ? "counted" : "modelled";
  return { bars, level: 100, xLabel: "sequence length", yLabel: "share of time", yText: (v) => `${v}%`,
    key: [...PARTS.filter((_, i) => known[i]).map(([name, color]) => [color, name]), ["var(--box)", "100%: the time measured"]],
    from: "What each part would take alone, as a share of the time measured (grey box). They run at the same time, so shares do not add up. One near 100% limits; where none is, latency or waiting for each other does. "
      + `Bytes ${sourceText(usable.map((row) => bytesOf(row, true)?.from).filter(Boolean))}, FLOPs ${counted}, exponentials modelled. ${roof.text}${exp ? ` Exponentials: ${digits(exp, 4)} Gexp/s.` : ""} ${cure}` };
}
const rangeText = (shares) => {
  const [low, high] = [Math.min(...shares), Math.max(...shares)].map((share) => `${digits(share, 2)}%`);
  return low === high ? low : `${low} to ${high}`;
};

const QUESTIONS = [
  { id: "bytes", title: anyGpu ? "HBM bytes" : "Main-memory bytes", make: makeBytes, logX: true, logY: true, choosable: ["x", "y"] },
  { id: "time", title: "Time", make: makeTime, logX: true, logY: true, choosable: ["x", "y"] },
  { id: "speedup", title: data.reference ? `Speed-up over ${data.reference}` : "Speed-up", make: makeSpeedup, logX: true, choosable: ["x", "y"] },
  { id: "tflops", title: "Throughput", make: makeRates },
  { id: "roofline", title: "Roofline", make: makeRoofline, logX: true, logY: true, choosable: ["x", "y"] },
  { id: "memory", title: "Memory needed", make: makeMemory, logX: true, logY: true, choosable: ["x", "y"] },
  { id: "parts", title: "Where the time goes", make: makeParts, wide: true },
];
