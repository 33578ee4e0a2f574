'use strict';
const run = JSON.parse(document.getElementById('data').textContent);
const moments = run.moments.map(([at, place, kind, text, more], index) => ({ at, place, kind, text, more, index }));
const by = id => document.getElementById(id);
const seconds = at => (at / 1000).toFixed(3) + ' s';
const many = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;

by('title').textContent = `Seed ${run.seed}: ${many(run.nodes.length, 'node')}, ${(run.length / 1000).toFixed(1)} s`;
by('verdict').textContent = run.finding ? run.finding.text : run.verdict ?? 'Every promise held.';
by('verdict').classList.toggle('bad', Boolean(run.finding));
by('facts').textContent = `${many(run.faults, 'fault')} · ${many(run.terms, 'term')} · at most ${run.leaderless.toFixed(1)} s without a leader`;
by('command').textContent = run.command;
document.title = by('title').textContent;

// The lanes, from top to bottom: the faults, the store, each node, the visitors.
const LANE = 46, TOP = 30, BAR = 20;
const lanes = ['faults', 'store', ...run.nodes, ...(run.visited === false ? [] : ['visitor'])];
const laneOf = place => Math.max(0, lanes.indexOf(place));
const middle = lane => TOP + LANE * lane + LANE / 2;
const height = TOP + LANE * lanes.length + 14;

// States, each from the moment at which it begins to the next moment of its kind.
function spans(place) {
  const found = [], open = {};
  const close = (what, at) => { if (open[what]) { found.push({ ...open[what], until: at }); delete open[what]; } };
  const begin = (what, at, shape, text) => { close(what, at); open[what] = { at, what, shape, text }; };
  begin('role', 0, 'none', 'no role');
  for (const { at, kind, more, text } of moments.filter(moment => moment.place === place)) {
    if (kind === 'role') begin('role', at, more, more === 'none' ? 'no role' : more);
    else if (kind === 'term') begin('term', at, 'term', `epoch ${more}`);
    else if (kind === 'term over') close('term', at);
    else if (kind === 'paused') begin('host', at, 'paused', 'paused');
    else if (kind === 'down') { close('term', at); begin('host', at, 'down', 'down'); begin('role', at, 'none', 'no role'); }
    else if (kind === 'up') { close('host', at); }
    else if (kind === 'visit') begin('visit', at, /full/.test(text) ? 'good' : /partial/.test(text) ? 'warn' : /no /.test(text) ? 'bad' : 'plain', text);
  }
  Object.keys(open).forEach(what => close(what, run.length));
  return place === 'visitor' ? found.filter(span => span.what === 'visit') : found;
}
// Later shapes are drawn on top of earlier ones.
const depth = { role: 0, visit: 0, host: 1, term: 2 };
const lasting = [...run.nodes, 'visitor'].flatMap(place => spans(place).map(span => ({ ...span, place })))
  .sort((one, other) => depth[one.what] - depth[other.what]);

const SVG = 'http://www.w3.org/2000/svg';
function draw(parent, name, attributes, tip) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (tip) element.dataset.tip = tip;
  parent.append(element);
  return element;
}

const layers = Object.fromEntries([...document.querySelectorAll('[data-layer]')].map(box => [box.dataset.layer, box]));
const scroll = by('scroll'), svg = by('svg');
let perSecond = 0, cursorAt = null;
const x = at => at / 1000 * perSecond + 8;

function redraw() {
  const width = x(run.length) + 40;
  svg.replaceChildren();
  svg.setAttribute('width', width);
  svg.setAttribute('height', height);
  const defs = draw(svg, 'defs', {});
  const stripes = draw(defs, 'pattern', { id: 'stripes', width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' });
  draw(stripes, 'line', { x1: 0, y1: 0, x2: 0, y2: 7 });
  draw(svg, 'rect', { class: 'calm', x: x(run.troubled), y: TOP, width: Math.max(0, x(run.length) - x(run.troubled)), height: height - TOP }, 'no more faults: the cluster must come to rest');
  axis();
  lanes.forEach((_, lane) => draw(svg, 'line', { class: 'lane', x1: 0, x2: width, y1: middle(lane), y2: middle(lane) }));
  lasting.forEach(drawSpan);
  if (layers.exchanges.checked) moments.forEach(drawTalk);
  if (layers.faults.checked) moments.forEach(drawFault);
  if (layers.steps.checked) moments.filter(moment => moment.kind === 'step').forEach(moment =>
    draw(svg, 'circle', { class: 'step', cx: x(moment.at), cy: middle(laneOf(moment.place)) + BAR / 2 + 5, r: 2.5, 'data-index': moment.index }, tip(moment)));
  if (run.finding) {
    const at = x(run.finding.at);
    draw(svg, 'line', { class: 'found', x1: at, x2: at, y1: TOP - 6, y2: height });
    draw(svg, 'text', { class: 'foundtext', x: at - 6, y: 12, 'text-anchor': at > 300 ? 'end' : 'start' }, run.finding.text).textContent = '✗ ' + run.finding.text.slice(0, 120);
  }
  cursor();
}

function axis() {
  const step = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find(step => step * perSecond >= 60) || 600;
  for (let second = 0; second * 1000 <= run.length; second += step) {
    draw(svg, 'line', { class: 'grid', x1: x(second * 1000), x2: x(second * 1000), y1: TOP - 4, y2: height });
    draw(svg, 'text', { x: x(second * 1000) + 3, y: TOP - 6 }).textContent = `${Number(second.toFixed(2))} s`;
  }
}

function drawSpan(span) {
  const y = middle(laneOf(span.place)), width = Math.max(1.5, x(span.until) - x(span.at));
  const about = `${span.place}: ${span.text}, from ${seconds(span.at)} to ${seconds(span.until)}`;
  const inset = span.what === 'host' ? 3 : 0;
  const tall = span.what === 'term' ? BAR + 8 : BAR - 2 * inset;
  draw(svg, 'rect', { class: span.shape, x: x(span.at), y: y - tall / 2, width, height: tall, rx: 2 }, span.what === 'term' ? undefined : about).setAttribute('pointer-events', span.what === 'term' ? 'none' : 'auto');
  if (span.what === 'term' && width > 34) draw(svg, 'text', { class: 'epoch', x: x(span.at) + 6, y: y + 4 }).textContent = width > 80 ? span.text : span.text.replace('epoch ', '');
}

function drawFault(moment) {
  if (moment.kind !== 'fault' && moment.kind !== 'mend') return;
  const lane = laneOf(moment.place), at = x(moment.at), y = lane ? middle(lane) - BAR / 2 - 3 : middle(0);
  if (moment.kind === 'fault') draw(svg, 'line', { class: 'faultline', x1: at, x2: at, y1: middle(0), y2: y });
  const shape = moment.kind === 'fault' ? `M${at},${y} l-5,-9 h10 z` : `M${at - 4},${y - 4} a4,4 0 1,0 8,0 a4,4 0 1,0 -8,0`;
  draw(svg, 'path', { class: moment.kind, d: shape, 'data-index': moment.index }, tip(moment));
  if (moment.kind === 'fault' && lane) draw(svg, 'path', { class: 'fault', d: `M${at},${middle(0) + 5} l-5,-9 h10 z`, 'data-index': moment.index }, tip(moment));
}

function drawTalk(moment) {
  if (moment.kind !== 'exchange' && moment.kind !== 'notice') return;
  if (/^Beat/.test(moment.text) && !layers.beats.checked) return;
  const node = middle(laneOf(moment.place)) - BAR / 2, store = middle(1) + BAR / 2, at = x(moment.at);
  const path = moment.kind === 'exchange'
    ? `M${at},${node} L${(at + x(moment.more)) / 2},${store} L${x(moment.more)},${node}`
    : `M${at - 2},${store} L${at},${node}`;
  draw(svg, 'path', { class: moment.kind, d: path }, tip(moment));
}

const tip = moment => `${seconds(moment.at)}  ${moment.place}  ${moment.text}`;

function cursor() {
  svg.querySelector('.cursor')?.remove();
  if (cursorAt !== null) draw(svg, 'line', { class: 'cursor', x1: x(cursorAt), x2: x(cursorAt), y1: TOP, y2: height });
}

lanes.forEach((name, lane) => {
  const label = document.createElement('div');
  label.textContent = name;
  label.style.top = middle(lane) + 'px';
  by('labels').append(label);
});

// The trace.
const told = moments.filter(moment => ['step', 'fault', 'mend', 'visit'].includes(moment.kind)).sort((one, other) => one.at - other.at);
if (run.finding) told.push({ at: run.finding.at, place: run.finding.place, kind: 'found', text: run.finding.text, index: -1 });
const lines = new Map();
for (const moment of told) {
  const line = document.createElement('li'), at = document.createElement('time'), place = document.createElement('b'), text = document.createElement('span');
  line.className = 'is-' + moment.kind;
  at.textContent = seconds(moment.at);
  place.textContent = moment.place;
  text.textContent = moment.text;
  line.append(at, place, text);
  line.addEventListener('click', () => show(moment, false));
  by('lines').append(line);
  lines.set(moment.index, { line, moment });
}
by('place').append(new Option('everywhere', ''), ...[...new Set(told.map(moment => moment.place))].sort().map(place => new Option(place, place)));
function filter() {
  const wanted = by('search').value.toLowerCase(), place = by('place').value;
  for (const { line, moment } of lines.values()) {
    line.hidden = !(moment.text.toLowerCase().includes(wanted) && (!place || moment.place === place));
    line.style.display = line.hidden ? 'none' : '';
  }
}
by('search').addEventListener('input', filter);
by('place').addEventListener('input', filter);

function show(moment, moveTrace) {
  cursorAt = moment.at;
  cursor();
  document.querySelectorAll('.now').forEach(line => line.classList.remove('now'));
  const entry = lines.get(moment.index);
  entry?.line.classList.add('now');
  if (moveTrace) entry?.line.scrollIntoView({ block: 'center' });
  else scroll.scrollLeft = x(moment.at) - scroll.clientWidth / 2;
}

svg.addEventListener('click', event => {
  const index = event.target.dataset.index;
  if (index !== undefined) return show(moments[index], true);
  const at = (event.clientX - svg.getBoundingClientRect().left - 8) / perSecond * 1000;
  const nearest = told.reduce((best, moment) => Math.abs(moment.at - at) < Math.abs(best.at - at) ? moment : best, told[0]);
  if (nearest) show(nearest, true);
});
svg.addEventListener('mousemove', event => {
  const text = event.target.dataset.tip, box = by('tip');
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + 'px';
  box.style.top = Math.min(event.clientY + 16, innerHeight - box.offsetHeight - 8) + 'px';
});
svg.addEventListener('mouseleave', () => { by('tip').hidden = true; });

const fit = () => Math.max(0.5, (scroll.clientWidth - 56) / (run.length / 1000));
function zoom(factor, around) {
  const center = around ?? scroll.clientWidth / 2, at = (scroll.scrollLeft + center - 8) / perSecond;
  perSecond = Math.min(4000, Math.max(fit(), perSecond * factor));
  redraw();
  scroll.scrollLeft = at * perSecond + 8 - center;
}
by('in').addEventListener('click', () => zoom(2));
by('out').addEventListener('click', () => zoom(0.5));
by('fit').addEventListener('click', () => zoom(0));
scroll.addEventListener('wheel', event => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(event.deltaY < 0 ? 1.3 : 1 / 1.3, event.clientX - scroll.getBoundingClientRect().left);
}, { passive: false });
Object.values(layers).forEach(box => box.addEventListener('input', redraw));
addEventListener('resize', () => zoom(1));

perSecond = fit();
redraw();
if (run.finding) show({ at: run.finding.at, index: -1 }, true);
