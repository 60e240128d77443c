"use strict";
// The diagrams and the contents of a directory. Names are written by textContent and fillText only.
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const canvas = $("canvas");
  const pen = canvas.getContext("2d");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  const hasGrowth = data.growth.length > 0;
  // Lines of the table before the button that shows all.
  const LINES = 25;

  // ---- The tree

  const nodes = data.names.map((name, at) => ({
    at,
    name,
    kind: data.kinds[at],
    alloc: data.alloc[at],
    size: data.size[at],
    entries: data.entries[at],
    age: data.ages[at],
    owner: data.owners[data.uids[at]] ?? "–",
    growth: hasGrowth ? data.growth[at] : null,
    note: data.notes[at],
    parent: null,
    parts: [],
  }));
  nodes.forEach((node, at) => {
    const parent = nodes[data.parents[at]];
    if (parent) {
      node.parent = parent;
      parent.parts.push(node);
    }
  });
  // What is not shown, and the blocks of the directory itself, are parts like files.
  const part = (parent, kind, name, [alloc, size, entries]) => ({
    kind, name, alloc, size, entries, parent, parts: [], age: null, owner: "–", growth: null,
  });
  for (const node of nodes) {
    if (node.kind !== "d") continue;
    const rest = data.rest[node.at] ?? [0, 0, 0];
    const shown = (key) => node.parts.reduce((sum, each) => sum + each[key], 0);
    const own = [node.alloc - shown("alloc") - rest[0], node.size - shown("size") - rest[1], 1];
    if (rest[2] > 0 || rest[0] > 0) {
      node.parts.push(part(node, "rest", `${count(rest[2])} smaller`, rest));
    }
    if (own[0] > 0) node.parts.push(part(node, "own", "the directory itself", own));
    node.parts.sort((a, b) => b.alloc - a.alloc);
  }

  // ---- Text

  function count(number) {
    return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  }

  // As `du -h` writes sizes: rounded up, one decimal below ten. Only whole numbers are divided: a
  // quotient such as 1.3 is not exact, and rounding up would make 1.4 of it.
  function size(bytes) {
    const base = data.base;
    let [power, unit] = [0, 1];
    while (base > 0 && power < 6 && bytes > (base - (power > 0 ? 1 : 0.5)) * unit) {
      [power, unit] = [power + 1, unit * base];
    }
    const whole = Math.floor(bytes / unit);
    const tenths = 10 * whole + Math.ceil(((bytes - whole * unit) * 10) / unit);
    const number = power > 0 && tenths < 100 ? (tenths / 10).toFixed(1) : Math.ceil(bytes / unit);
    return number + ["", base === 1000 ? "k" : "K", "M", "G", "T", "P", "E"][power];
  }

  function growth(bytes) {
    if (bytes === null) return "";
    return bytes === 0 ? "0" : (bytes > 0 ? "+" : "−") + size(Math.abs(bytes));
  }

  function share(piece, whole) {
    return whole > 0 ? `${((100 * piece) / whole).toFixed(1)} %` : "–";
  }

  function day(age) {
    const date = new Date((data.hour - age) * 3600e3);
    return age === null || isNaN(date) ? "–" : date.toISOString().slice(0, 10);
  }

  function path(node) {
    const names = [];
    for (let at = node; at.parent; at = at.parent) names.unshift(at.name);
    if (names.length === 0) return nodes[0].name;
    if (data.top === "") return names.join("/");
    return data.top.replace(/\/$/, "") + "/" + names.join("/");
  }

  function facts(item) {
    const list = [`${size(item.alloc)} allocated, ${share(item.alloc, state.here.alloc)}`];
    if (item.size !== item.alloc) list.push(`apparent size ${size(item.size)}`);
    if (item.entries > 1) list.push(`${count(item.entries)} entries`);
    if (item.growth) list.push(`growth ${growth(item.growth)}`);
    if (item.age !== null) list.push(`changed ${day(item.age)}`);
    if (item.at !== undefined) list.push(`owner ${item.owner}`);
    if (item.note) list.push(item.note);
    return list;
  }

  // ---- Colours

  const AGES = [
    [24, "< 1 day"], [168, "< 1 week"], [720, "< 1 month"], [2160, "< 3 months"],
    [8760, "< 1 year"], [17520, "< 2 years"], [43800, "< 5 years"], [Infinity, "older"],
  ];
  const AGE_COLOURS = [
    [[8, 62, 72], [24, 68, 72], [38, 70, 72], [52, 55, 74], [90, 32, 74], [160, 28, 72],
      [195, 34, 74], [215, 32, 80]],
    [[8, 52, 44], [22, 52, 42], [36, 52, 40], [50, 45, 38], [90, 26, 37], [160, 28, 34],
      [195, 30, 33], [215, 24, 31]],
  ];
  const HUES = [212, 28, 158, 340, 48, 268, 188, 95, 8, 235];

  function isDark() {
    return dark.matches && !state.isPrinting;
  }

  function hsl(hue, saturation, light) {
    return `hsl(${hue} ${saturation}% ${light}%)`;
  }

  function grey(step) {
    return isDark() ? hsl(218, 12, 24 + step) : hsl(218, 16, 88 - step);
  }

  function ageColour(age) {
    if (age === null) return grey(2);
    const at = AGES.findIndex(([limit]) => age < limit);
    return hsl(...AGE_COLOURS[isDark() ? 1 : 0][at]);
  }

  // The colours of neighbouring levels differ, so that the gaps between parts can be seen.
  function growthColour(item, depth = 1) {
    const step = depth % 2 ? 0 : 4;
    if (!item.growth) return grey(step);
    const before = Math.max(item.alloc, item.alloc - item.growth, 1);
    const strength = Math.sqrt(Math.min(1, Math.abs(item.growth) / before));
    const [hue, least, most] = item.growth > 0 ? [24, 24, 48] : [176, 18, 22];
    return isDark()
      ? hsl(hue, least + 0.6 * most * strength, 27 + 12 * strength - step)
      : hsl(hue, least + most * strength, 89 - 20 * strength - step);
  }

  // The colour of an item that lies `depth` levels below the directory, in its part `first`.
  // An open one shows its parts, which have ages of their own.
  function colour(item, depth, first, isOpen = false) {
    if (state.colour === "growth") return growthColour(item, depth);
    if (item.kind === "rest" || item.kind === "own") return grey(2);
    if (state.colour === "age" && isOpen) return grey(depth % 2 ? 7 : 4);
    if (state.colour === "age") return ageColour(item.age);
    const hue = HUES[first % HUES.length];
    const step = Math.min(depth - 1, 4) * (isDark() ? 2.5 : 3);
    return isDark() ? hsl(hue, 30, 35 - step) : hsl(hue, 52, 72 + step);
  }

  const ink = () => (isDark() ? "#eef1f5" : "#1b2230");
  const paper = () => (isDark() ? "#14171c" : "#ffffff");

  // ---- Drawing

  // The part of the sunburst's radius that the hole in the middle takes.
  const HOLE = 0.22;
  const state = { here: nodes[0], chosen: null, view: "treemap", colour: "place" };
  // Shapes in the order in which they were drawn; the last one at a point is on top.
  let shapes = [];

  // Returns as much of a text as fits, or nothing if that says too little.
  function fit(text, width) {
    if (pen.measureText(text).width <= width) return text;
    const letters = Array.from(text);
    let [low, high] = [0, letters.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const piece = letters.slice(0, middle).join("") + "…";
      if (pen.measureText(piece).width <= width) low = middle;
      else high = middle - 1;
    }
    return low < 4 ? "" : letters.slice(0, low).join("") + "…";
  }

  function font(pixels, weight = 400) {
    pen.font = `${weight} ${pixels}px ${FONT}`;
  }

  // Squarified treemap (Bruls, Huizing, van Wijk 2000): rows along the shorter side, each as long
  // as its rectangles become no flatter.
  function squarify(parts, box, place) {
    let [x, y, w, h] = box;
    let left = parts.reduce((sum, each) => sum + each.alloc, 0);
    for (let at = 0; at < parts.length && left > 0; ) {
      const side = Math.min(w, h);
      const scale = (w * h) / left;
      let [row, end, worst] = [0, at, Infinity];
      for (; end < parts.length; end++) {
        const area = parts[end].alloc * scale;
        const sum = row + area;
        if (area <= 0) break;
        const ratio = Math.max(
          (side * side * parts[at].alloc * scale) / (sum * sum),
          (sum * sum) / (side * side * area),
        );
        if (ratio > worst) break;
        [row, worst] = [sum, ratio];
      }
      if (end === at || side <= 0) return;
      const thick = row / side;
      let offset = 0;
      for (; at < end; at++) {
        const long = (parts[at].alloc * scale) / thick;
        left -= parts[at].alloc;
        if (w >= h) place(parts[at], x, y + offset, thick, long);
        else place(parts[at], x + offset, y, long, thick);
        offset += long;
      }
      if (w >= h) [x, w] = [x + thick, w - thick];
      else [y, h] = [y + thick, h - thick];
    }
  }

  function drawTreemap(width, height) {
    const draw = (item, x, y, w, h, depth, first) => {
      // Whole pixels and a gap of one pixel.
      const [left, top] = [Math.round(x), Math.round(y)];
      w = Math.round(x + w) - left - 1;
      h = Math.round(y + h) - top - 1;
      if (w < 2 || h < 2) return;
      const isOpen = item.parts.length > 0 && w >= 14 && h >= 14;
      pen.fillStyle = colour(item, depth, first, isOpen);
      pen.fillRect(left, top, w, h);
      shapes.push({ item, depth, box: [left, top, w, h] });
      const isLabelled = w >= 34 && h >= 16;
      if (isLabelled) {
        font(12, item.kind === "d" ? 600 : 400);
        pen.fillStyle = ink();
        pen.textBaseline = "middle";
        pen.textAlign = "left";
        const text = fit(item.name, w - 10);
        pen.fillText(text, left + 5, top + 9);
        const used = pen.measureText(text).width;
        font(11);
        const bytes = size(item.alloc);
        const room = pen.measureText(bytes).width;
        pen.globalAlpha = 0.75;
        if (text && used + room + 20 <= w) {
          pen.textAlign = "right";
          pen.fillText(bytes, left + w - 5, top + 9);
        } else if (text && !isOpen && h >= 32 && room + 10 <= w) {
          pen.fillText(bytes, left + 5, top + 24);
        }
        pen.globalAlpha = 1;
      }
      if (!isOpen) return;
      const head = isLabelled ? 18 : 2;
      const inner = [left + 2, top + head, w - 3, h - head - 1];
      if (inner[2] < 6 || inner[3] < 6) return;
      squarify(item.parts, inner, (part, ...at) => draw(part, ...at, depth + 1, first));
    };
    const parts = state.here.parts;
    squarify(parts, [0, 0, width + 1, height + 1], (item, ...at) => {
      draw(item, ...at, 1, parts.indexOf(item));
    });
  }

  function drawSunburst(width, height) {
    const [x, y] = [width / 2, height / 2];
    const radius = Math.min(x, y) - 2;
    const [levels, hole] = [4, radius * HOLE];
    const thick = (radius - hole) / levels;
    const draw = (item, from, to, depth, first) => {
      const inner = hole + (depth - 1) * thick;
      const outer = inner + thick;
      if ((to - from) * outer < 1.5) return;
      pen.beginPath();
      pen.arc(x, y, outer - 1, from, to);
      pen.arc(x, y, inner, to, from, true);
      pen.closePath();
      pen.fillStyle = colour(item, depth, first);
      pen.fill();
      pen.strokeStyle = paper();
      pen.lineWidth = 1;
      pen.stroke();
      // A sum stands for the directory that holds its parts.
      if (item.isSum) {
        if (depth > 1) shapes.push({ item: item.parent, depth, arc: [inner, outer, from, to] });
        return;
      }
      shapes.push({ item, depth, arc: [inner, outer, from, to] });
      const middle = (from + to) / 2;
      if ((to - from) * (inner + 8) >= 15) {
        pen.save();
        pen.translate(x, y);
        const turned = Math.cos(middle) < 0;
        pen.rotate(turned ? middle + Math.PI : middle);
        font(11, depth === 1 ? 600 : 400);
        pen.fillStyle = ink();
        pen.textBaseline = "middle";
        pen.textAlign = "center";
        const at = (inner + outer) / 2;
        pen.fillText(fit(item.name, thick - 8), turned ? -at : at, 0);
        pen.restore();
      }
      if (depth < levels) ring(item, from, to, depth + 1, first);
    };
    const ring = (node, from, to, depth, first) => {
      const total = Math.max(node.parts.reduce((sum, each) => sum + each.alloc, 0), 1);
      const least = 1.5 / (hole + depth * thick);
      let sum = 0;
      for (const [at, item] of node.parts.entries()) {
        const begin = from + ((to - from) * sum) / total;
        const width = ((to - from) * item.alloc) / total;
        sum += item.alloc;
        // All parts that are too small to be seen are one piece. They are the last ones.
        if (width < least) {
          const rest = { kind: "rest", name: "", parts: [], parent: node, isSum: true };
          draw(rest, begin, to, depth, first ?? at);
          break;
        }
        draw(item, begin, Math.min(begin + width, to), depth, first ?? at);
      }
    };
    // A circle needs two ends.
    ring(state.here, -Math.PI / 2, 1.5 * Math.PI - 1e-6, 1);
    pen.beginPath();
    pen.arc(x, y, hole - 2, 0, 2 * Math.PI);
    pen.fillStyle = grey(0);
    pen.fill();
    pen.fillStyle = ink();
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    font(14, 600);
    pen.fillText(fit(state.here.name, 2 * hole - 28), x, y - 10);
    font(13);
    pen.fillText(size(state.here.alloc), x, y + 10);
  }

  function outline(shape, width, height) {
    pen.strokeStyle = ink();
    pen.lineWidth = 2;
    if (shape.box) {
      const [x, y, w, h] = shape.box;
      pen.strokeRect(x + 1, y + 1, w - 2, h - 2);
      return;
    }
    const [inner, outer, from, to] = shape.arc;
    pen.beginPath();
    pen.arc(width / 2, height / 2, outer - 2, from, to);
    pen.arc(width / 2, height / 2, inner + 1, to, from, true);
    pen.closePath();
    pen.stroke();
  }

  function draw() {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0 || height === 0) return;
    const ratio = Math.max(devicePixelRatio || 1, state.isPrinting ? 2 : 1);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = paper();
    pen.fillRect(0, 0, width, height);
    shapes = [];
    if (state.view === "treemap") drawTreemap(width, height);
    else drawSunburst(width, height);
    if (shapes.length === 0) {
      font(14);
      pen.fillStyle = ink();
      pen.textAlign = "center";
      pen.fillText("Nothing here has allocated space.", width / 2, height / 2);
    }
    const chosen = shapes.find((shape) => shape.item === state.chosen);
    if (chosen && !state.isPrinting) outline(chosen, width, height);
  }

  let isPlanned = false;
  function redraw() {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
      isPlanned = false;
      draw();
    });
  }

  // ---- The page around the diagram

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function link(node, text) {
    const button = element("button", undefined, "link");
    button.type = "button";
    button.append(element("bdi", text));
    button.addEventListener("click", () => open(node));
    return button;
  }

  function svg(width, height, fill, part) {
    const make = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
    const [image, bar] = [make("svg"), make("rect")];
    image.setAttribute("width", width);
    image.setAttribute("height", height);
    image.setAttribute("aria-hidden", "true");
    bar.setAttribute("width", part);
    bar.setAttribute("height", height);
    if (fill) bar.setAttribute("fill", fill);
    image.append(bar);
    return image;
  }

  function showCrumbs() {
    const above = [];
    for (let at = state.here.parent; at; at = at.parent) above.unshift(at);
    const here = element("bdi", state.here.name);
    here.setAttribute("aria-current", "location");
    const pieces = above.flatMap((node) => [link(node, node.name), element("span", "/", "slash")]);
    $("crumbs").replaceChildren(...pieces, here);
    $("here").textContent = path(state.here);
  }

  function line(item) {
    const row = element("tr", undefined, item.kind === "rest" || item.kind === "own" ? "rest" : "");
    const name = element("td", undefined, "path");
    name.append(item.kind === "d" ? link(item, item.name + "/") : element("bdi", item.name));
    if (item.note) name.append(element("span", ` ${item.note}`, "note"));
    const alloc = element("td", size(item.alloc), "number barred");
    const largest = Math.max(state.here.parts[0].alloc, 1);
    const bar = svg("90", 8, null, `${((100 * item.alloc) / largest).toFixed(1)}%`);
    bar.setAttribute("class", "bar");
    alloc.append(bar);
    row.append(name, alloc, element("td", share(item.alloc, state.here.alloc), "number"));
    if (hasGrowth) {
      const change = item.growth > 0 ? "grown" : item.growth < 0 ? "shrunk" : "";
      row.append(element("td", growth(item.growth), `number ${change}`));
    }
    row.append(
      element("td", size(item.size), "number"),
      element("td", count(item.entries), "number"),
      element("td", day(item.age)),
      element("td", item.owner),
    );
    return row;
  }

  function showContents(limit = LINES) {
    const parts = state.here.parts;
    const body = $("contents").tBodies[0];
    body.replaceChildren(...parts.slice(0, limit).map(line));
    if (parts.length > limit) {
      const button = element("button", `Show ${count(parts.length - limit)} more`, "link");
      button.type = "button";
      button.addEventListener("click", () => showContents(Infinity));
      const cell = element("td");
      cell.colSpan = hasGrowth ? 8 : 7;
      cell.append(button);
      const row = element("tr");
      row.append(cell);
      body.append(row);
    }
  }

  function showLegend() {
    const entries = {
      place: [],
      age: AGES.map(([limit, text], at) => [ageColour(at ? AGES[at - 1][0] : 0), text]),
      growth: [
        [growthColour({ growth: 1, alloc: 1 }), "grown"],
        [growthColour({ growth: -1, alloc: 0 }), "shrunk"],
        [growthColour({ growth: 0 }), "the same, or not known"],
      ],
    }[state.colour];
    const pieces = entries.map(([fill, text]) => {
      const piece = element("span");
      piece.append(svg(11, 11, fill, 11), text);
      return piece;
    });
    $("legend").replaceChildren(...pieces);
  }

  function choose(item) {
    state.chosen = item;
    $("chosen").textContent = item ? [item.name, ...facts(item)].join(" · ") : "";
    redraw();
  }

  // Shows a directory. `back` is the part to choose in it.
  function show(node, back = null) {
    state.here = node;
    $("tip").hidden = true;
    showCrumbs();
    showContents();
    choose(back);
    // The focus was on a button that is gone.
    if (document.activeElement === document.body && state.isReady) {
      canvas.focus({ preventScroll: true });
    }
  }

  // Opens a directory, as a place in the history of the browser.
  function open(node) {
    if (node.kind !== "d" || node === state.here) return;
    location.hash = node.at;
  }

  function up() {
    if (state.here.parent) open(state.here.parent);
  }

  addEventListener("hashchange", () => {
    const node = nodes[Number(location.hash.slice(1) || 0)];
    if (!node || node.kind !== "d") return;
    // After the way up, the directory that was left is chosen.
    let back = state.here;
    while (back && back.parent !== node) back = back.parent;
    show(node, back);
  });

  // ---- Pointer and keys

  function shapeAt(event) {
    const rect = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - rect.left, event.clientY - rect.top];
    const [dx, dy] = [x - rect.width / 2, y - rect.height / 2];
    const distance = Math.hypot(dx, dy);
    // From the top, against the direction of the clock.
    let angle = Math.atan2(dy, dx);
    if (angle < -Math.PI / 2) angle += 2 * Math.PI;
    return shapes.findLast(({ box, arc }) =>
      box
        ? x >= box[0] && y >= box[1] && x <= box[0] + box[2] && y <= box[1] + box[3]
        : distance >= arc[0] && distance < arc[1] && angle >= arc[2] && angle < arc[3],
    );
  }

  function isInHole(event) {
    const rect = canvas.getBoundingClientRect();
    const radius = Math.min(rect.width, rect.height) / 2 - 2;
    const [dx, dy] = [event.clientX - rect.left, event.clientY - rect.top];
    return Math.hypot(dx - rect.width / 2, dy - rect.height / 2) < radius * HOLE;
  }

  canvas.addEventListener("click", (event) => {
    const shape = shapeAt(event);
    if (!shape) {
      if (state.view === "sunburst" && isInHole(event)) up();
      return;
    }
    const { item } = shape;
    // A file below a part opens the directory that holds it.
    if (item.kind === "d") open(item);
    else if (item.parent !== state.here) open(item.parent);
    else choose(item);
  });

  canvas.addEventListener("pointermove", (event) => {
    const tip = $("tip");
    const shape = shapeAt(event);
    tip.hidden = !shape;
    if (!shape) return;
    const { item } = shape;
    const where = item.at === undefined ? path(item.parent) : path(item);
    tip.replaceChildren(element("b", item.at === undefined ? item.name : ""));
    tip.firstChild.hidden = item.at !== undefined;
    tip.append(element("b", where), facts(item).join("\n"));
    const rect = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - rect.left, event.clientY - rect.top];
    const left = x + 16 + tip.offsetWidth > rect.width ? x - 16 - tip.offsetWidth : x + 16;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 16, rect.height - tip.offsetHeight))}px`;
  });
  canvas.addEventListener("pointerleave", () => {
    $("tip").hidden = true;
  });

  // Returns the nearest part in the direction of an arrow key.
  function neighbour(key) {
    const parts = shapes.filter((shape) => shape.depth === 1);
    const at = parts.findIndex((shape) => shape.item === state.chosen);
    if (at < 0) return parts[0];
    if (state.view === "sunburst") {
      const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
      return parts[(at + step + parts.length) % parts.length];
    }
    const middle = ({ box }) => [box[0] + box[2] / 2, box[1] + box[3] / 2];
    const [x, y] = middle(parts[at]);
    const [ahead, beside] = {
      ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1],
    }[key].map((way, axis) => [way, axis]).sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
    let [best, least] = [parts[at], Infinity];
    for (const shape of parts) {
      const distance = middle(shape).map((value, axis) => value - [x, y][axis]);
      const forward = distance[ahead[1]] * ahead[0];
      const cost = forward + 2 * Math.abs(distance[beside[1]]);
      if (forward > 1 && cost < least) [best, least] = [shape, cost];
    }
    return best;
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      const shape = neighbour(event.key);
      if (shape) choose(shape.item);
    } else if (event.key === "Enter" || event.key === " ") {
      if (state.chosen) open(state.chosen);
    } else if (event.key === "Backspace" || event.key === "Escape") up();
    else if (event.key === "Home") open(nodes[0]);
    else return;
    event.preventDefault();
  });

  for (const view of ["treemap", "sunburst"]) {
    $(view).addEventListener("click", () => {
      state.view = view;
      $("tip").hidden = true;
      for (const each of ["treemap", "sunburst"]) {
        $(each).setAttribute("aria-pressed", String(each === view));
      }
      canvas.className = view === "sunburst" ? "round" : "";
      redraw();
    });
  }
  $("colour").addEventListener("change", () => {
    state.colour = $("colour").value;
    showLegend();
    redraw();
  });
  dark.addEventListener("change", () => {
    showLegend();
    redraw();
  });
  // Paper is light.
  for (const [name, isPrinting] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(name, () => {
      state.isPrinting = isPrinting;
      showLegend();
      draw();
    });
  }

  // ---- Start

  const heads = ["Name", "=Allocated", "#Share", "#Size", "#Entries", "Changed", "Owner"];
  if (hasGrowth) heads.splice(3, 0, "#Growth");
  for (const head of heads) {
    const kind = head.startsWith("#") ? "number" : head.startsWith("=") ? "number barred" : "";
    const cell = element("th", head.replace(/[#=]/, ""), kind);
    cell.scope = "col";
    $("contents").tHead.rows[0].append(cell);
  }
  $("explorer").hidden = false;
  const first = nodes[Number(location.hash.slice(1) || 0)];
  if (hasGrowth) $("colour").value = state.colour = "growth";
  show(first && first.kind === "d" ? first : nodes[0]);
  showLegend();
  new ResizeObserver(redraw).observe(canvas);
  state.isReady = true;
})();
