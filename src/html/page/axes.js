// Scales and their ticks.
function niceStep(span, count) {
  const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= raw);
}
function linearTicks(low, high, count) {
  const step = niceStep(high - low || 1, count), ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(i * step);
  return ticks;
}
function logTicks(low, high, base) {
  const ticks = [], of = (x) => Math.log(x) / Math.log(base);
  for (let e = Math.floor(of(low)); e <= Math.ceil(of(high)); ++e) {
    for (const factor of base === 10 && high / low < 2000 ? [1, 2, 5] : [1]) {
      const tick = factor * base ** e;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : linearTicks(low, high, 5);  // so short an axis that hardly a round number lies on it
}
/** A scale from [low, high] to [from, to] pixels, with room at its ends; on a linear axis 0 is in sight. */
function makeScale(values, from, to, log, base, room) {
  let low = Math.min(...values), high = Math.max(...values);
  if (log) {
    const factor = Math.max((high / low) ** room, 1.15);
    low /= factor;
    high *= factor;
  } else {
    low = Math.min(0, low);
    high += (high - low) * room || 1;
  }
  const of = log ? Math.log : (x) => x;
  const scale = (x) => from + ((of(x) - of(low)) / (of(high) - of(low))) * (to - from);
  return { scale, low, high, ticks: () => (log ? logTicks(low, high, base) : linearTicks(low, high, 5)) };
}
/** Ticks whose labels would touch go, the later ones first. */
function spaced(ticks, scale, apart) {
  const kept = [];
  for (const tick of ticks) {
    if (!kept.length || Math.abs(scale(tick) - scale(kept[kept.length - 1])) >= apart) kept.push(tick);
  }
  return kept;
}
