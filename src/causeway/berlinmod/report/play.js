"use strict";
// The city with its vehicles moving. All data is in the element play-data; nothing of it becomes markup.
(function () {
  const data = JSON.parse(document.getElementById("play-data").textContent);
  const byId = id => document.getElementById(id);
  const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
  const COLOURS = ["#fcd34d", "#38bdf8", "#f472b6", "#a3e635", "#c4b5fd"];
  const PAUSE = 300000;
  // The ground is drawn larger than the screen by this share on each side, so that it can be moved a while.
  const MARGIN = 0.25;

  function unpack(text, Kind) {
    const bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0));
    return new Kind(bytes.buffer);
  }

  const offsets = unpack(data.offsets, Uint32Array), t = unpack(data.t, Uint32Array);
  const x = unpack(data.x, Uint16Array), y = unpack(data.y, Uint16Array);
  const kind = unpack(data.kind, Uint8Array);
  const homes = unpack(data.homes, Uint16Array), works = unpack(data.works, Uint16Array);
  const traffic = unpack(data.traffic, Uint16Array);
  const count = offsets.length - 1;
  const span = data.end - data.begin;

  // The view: which place of the map is in the middle of the screen, and pixels a map unit.
  const canvas = byId("city"), ground = byId("ground");
  const view = {x: data.width / 2, y: data.height / 2, zoom: 1};
  const state = {time: 0, playing: false, rate: 60, follow: -1, districts: true, hover: -1};
  const at = new Uint32Array(count), px = new Float32Array(count), py = new Float32Array(count);
  const moving = new Uint8Array(count);
  const groundAt = {x: 0, y: 0, zoom: 0};
  let width = 0, height = 0, ratio = 1, groundStale = true, trips = [], shownTrip = -2;

  function linesOf(packed) {
    return {offsets: unpack(packed.offsets, Uint32Array), x: unpack(packed.x, Uint16Array),
            y: unpack(packed.y, Uint16Array)};
  }

  function pathOf(lines, chosen) {
    const path = new Path2D();
    for (let line = 0; line + 1 < lines.offsets.length; line++) {
      if (!chosen(line)) continue;
      for (let i = lines.offsets[line]; i < lines.offsets[line + 1]; i++) {
        if (i === lines.offsets[line]) path.moveTo(lines.x[i], lines.y[i]);
        else path.lineTo(lines.x[i], lines.y[i]);
      }
    }
    return path;
  }

  const streets = linesOf(data.streets), classes = unpack(data.streets.speed, Uint8Array);
  const streetPaths = [0, 1, 2].map(speed => pathOf(streets, line => classes[line] === speed));
  const water = pathOf(linesOf(data.water), () => true);
  const borders = linesOf(data.regions), ringRegion = unpack(data.regions.ring, Uint8Array);
  const regionPaths = data.regions.names.map((_, region) => pathOf(borders, ring => ringRegion[ring] === region));

  function fit() {
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    width = window.innerWidth; height = window.innerHeight;
    canvas.width = width * ratio; canvas.height = height * ratio;
    ground.width = width * ratio * (1 + 2 * MARGIN); ground.height = height * ratio * (1 + 2 * MARGIN);
    groundStale = true;
    drawTimeline();
  }

  function overview() {
    const bottom = byId("bar").offsetHeight + 28;
    view.zoom = Math.min((width - 24) / data.width, (height - bottom - 24) / data.height);
    view.x = data.width / 2;
    view.y = data.height / 2 - bottom / 2 / view.zoom;
  }

  const screenX = mapX => (mapX - view.x) * view.zoom + width / 2;
  const screenY = mapY => height / 2 - (mapY - view.y) * view.zoom;

  // Draws in units of the map from now on, with the middle of the view in the middle of the ground.
  function toMap(context) {
    context.setTransform(ratio * view.zoom, 0, 0, -ratio * view.zoom,
      ground.width / 2 - ratio * view.x * view.zoom, ground.height / 2 + ratio * view.y * view.zoom);
  }

  // Moves the ground to where the view is; false if there is too little of it.
  function moveGround() {
    const dx = (groundAt.x - view.x) * view.zoom, dy = (view.y - groundAt.y) * view.zoom;
    if (groundAt.zoom !== view.zoom || Math.abs(dx) > MARGIN * width || Math.abs(dy) > MARGIN * height) return false;
    ground.style.transform = "translate(" + dx + "px," + dy + "px)";
    return true;
  }

  // Darker at night than at noon.
  function daylight() {
    const hour = ((data.begin + state.time) / 3600000) % 24;
    return Math.max(0, Math.min(1, 1.15 - Math.abs(hour - 13) / 8));
  }

  function mixed(night, day, share) {
    return "rgb(" + night.map((low, i) => Math.round(low + (day[i] - low) * share)).join(",") + ")";
  }

  function drawGround() {
    const context = ground.getContext("2d");
    const light = daylight();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = mixed([9, 13, 27], [24, 33, 51], light);
    context.fillRect(0, 0, ground.width, ground.height);
    toMap(context);
    context.lineJoin = context.lineCap = "round";
    if (state.districts) {
      regionPaths.forEach((path, region) => {
        context.fillStyle = "hsla(" + (region * 137 + 200) % 360 + ",45%,60%,.09)";
        context.fill(path, "evenodd");
        context.strokeStyle = "rgba(148,163,184,.25)";
        context.lineWidth = 1 / view.zoom;
        context.stroke(path);
      });
    }
    context.fillStyle = mixed([16, 42, 74], [30, 66, 108], light);
    context.fill(water, "evenodd");
    const wider = Math.max(1, view.zoom / (0.06 * data.scale));
    [[0.55, [51, 65, 85], [71, 85, 105]], [1, [71, 85, 105], [100, 116, 139]],
     [1.8, [120, 98, 60], [160, 134, 84]]].forEach(([line, night, day], speed) => {
      context.strokeStyle = mixed(night, day, light);
      context.lineWidth = line * Math.min(wider, 6) / view.zoom;
      context.stroke(streetPaths[speed]);
    });
    if (state.districts) {
      context.setTransform(ratio, 0, 0, ratio, MARGIN * width * ratio, MARGIN * height * ratio);
      context.font = "600 12px system-ui, sans-serif";
      context.textAlign = "center";
      context.lineWidth = 3;
      context.strokeStyle = "rgba(9,13,27,.85)";
      context.fillStyle = "rgba(203,213,225,.9)";
      const labels = [];
      data.regions.names.forEach((name, region) => {
        const [labelX, labelY] = data.regions.labels[region];
        const label = {x: screenX(labelX), y: screenY(labelY), half: context.measureText(name).width / 2 + 3};
        // Names that would lie on each other stand below each other.
        const covered = other =>
          Math.abs(other.x - label.x) < other.half + label.half && Math.abs(other.y - label.y) < 15;
        for (let other; (other = labels.find(covered));) label.y = other.y + 15;
        labels.push(label);
        context.strokeText(name, label.x, label.y);
        context.fillText(name, label.x, label.y);
      });
    }
    groundStale = false;
    Object.assign(groundAt, view);
    moveGround();
  }

  // Finds the unit of vehicle v at this time, from where it was found last.
  function seek(v, time) {
    const first = offsets[v], last = offsets[v + 1] - 2;
    let i = Math.min(Math.max(at[v], first), last);
    if (t[i] > time || (i + 64 < last && t[i + 64] < time)) {
      let low = first, high = last;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (t[middle] <= time) low = middle; else high = middle - 1;
      }
      i = low;
    }
    while (i < last && t[i + 1] <= time) i++;
    at[v] = i;
    return i;
  }

  function place(v, time) {
    const i = seek(v, time), whole = t[i + 1] - t[i];
    const share = whole ? Math.min(Math.max((time - t[i]) / whole, 0), 1) : 0;
    px[v] = x[i] + (x[i + 1] - x[i]) * share;
    py[v] = y[i] + (y[i + 1] - y[i]) * share;
    moving[v] = x[i] !== x[i + 1] || y[i] !== y[i + 1] ? 1 : 0;
  }

  function tail(context, v, back) {
    const from = Math.max(state.time - back, t[offsets[v]]);
    context.moveTo(screenX(px[v]), screenY(py[v]));
    let i = at[v];
    for (let steps = 0; steps < 40 && i >= offsets[v]; steps++, i--) {
      if (t[i] <= from) {
        const whole = t[i + 1] - t[i], share = whole ? (from - t[i]) / whole : 0;
        context.lineTo(screenX(x[i] + (x[i + 1] - x[i]) * share), screenY(y[i] + (y[i + 1] - y[i]) * share));
        return;
      }
      context.lineTo(screenX(x[i]), screenY(y[i]));
    }
  }

  function drawVehicles() {
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    let driving = 0;
    for (let v = 0; v < count; v++) { place(v, state.time); driving += moving[v]; }
    const near = Math.max(1.35, Math.min(3.4, view.zoom / (0.04 * data.scale)));
    const visible = v => {
      const sx = screenX(px[v]), sy = screenY(py[v]);
      return sx > -20 && sx < width + 20 && sy > -20 && sy < height + 20;
    };
    context.fillStyle = "rgba(148,163,184,.55)";
    for (let v = 0; v < count; v++) {
      if (moving[v] || !visible(v)) continue;
      context.fillRect(screenX(px[v]) - near * 0.75, screenY(py[v]) - near * 0.75, near * 1.5, near * 1.5);
    }
    drawFollowed(context);
    const back = Math.min(state.rate * 700, 90000);
    context.lineCap = "round";
    for (let type = 0; type < data.types.length; type++) {
      const chosen = [];
      for (let v = 0; v < count; v++) if (moving[v] && kind[v] === type && visible(v)) chosen.push(v);
      context.strokeStyle = COLOURS[type % COLOURS.length];
      for (const [share, alpha, line] of [[1, 0.22, 1.4], [0.4, 0.4, 2]]) {
        context.globalAlpha = alpha;
        context.lineWidth = line * near;
        context.beginPath();
        for (const v of chosen) tail(context, v, back * share);
        context.stroke();
      }
      context.globalAlpha = 1;
      context.fillStyle = COLOURS[type % COLOURS.length];
      context.beginPath();
      for (const v of chosen) {
        const sx = screenX(px[v]), sy = screenY(py[v]), size = 1.5 * near;
        context.moveTo(sx + size, sy);
        context.arc(sx, sy, size, 0, 6.3);
      }
      context.fill();
    }
    if (state.follow >= 0) ring(context, px[state.follow], py[state.follow], 11, "#fff", 2);
    else if (state.hover >= 0) ring(context, px[state.hover], py[state.hover], 9, "rgba(255,255,255,.7)", 1.5);
    return driving;
  }

  function ring(context, mapX, mapY, radius, colour, line) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.beginPath();
    context.arc(screenX(mapX), screenY(mapY), radius, 0, 6.3);
    context.stroke();
  }

  function flag(context, mapX, mapY, letter, colour) {
    const sx = screenX(mapX), sy = screenY(mapY);
    context.fillStyle = colour;
    context.beginPath();
    context.arc(sx, sy, 9, 0, 6.3);
    context.fill();
    context.fillStyle = "#0b1020";
    context.font = "700 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillText(letter, sx, sy + 4);
  }

  function drawFollowed(context) {
    const v = state.follow;
    if (v < 0) return;
    const trip = trips[tripAt(state.time)];
    if (trip) {
      for (const [until, colour, line] of [[trip.last, "rgba(251,113,133,.45)", 5], [at[v], "#fb7185", 3.5]]) {
        context.strokeStyle = colour;
        context.lineWidth = line;
        context.lineJoin = "round";
        context.beginPath();
        context.moveTo(screenX(x[trip.first]), screenY(y[trip.first]));
        for (let i = trip.first + 1; i <= Math.min(until, trip.last); i++) context.lineTo(screenX(x[i]), screenY(y[i]));
        if (until < trip.last) context.lineTo(screenX(px[v]), screenY(py[v]));
        context.stroke();
      }
    }
    flag(context, works[2 * v], works[2 * v + 1], "W", "#7dd3fc");
    flag(context, homes[2 * v], homes[2 * v + 1], "H", "#86efac");
  }

  // A vehicle's trips: movement without a pause of five minutes or more.
  function tripsOf(v) {
    const found = [];
    let first = -1, metres = 0;
    const close = last => {
      if (first >= 0 && metres > 0) found.push({first: first, last: last, metres: metres});
      first = -1; metres = 0;
    };
    for (let i = offsets[v]; i + 1 < offsets[v + 1]; i++) {
      const step = Math.hypot(x[i + 1] - x[i], y[i + 1] - y[i]);
      if (step === 0 && t[i + 1] - t[i] >= PAUSE) { close(i); continue; }
      if (first < 0 && step > 0) first = i;
      metres += step * data.scale;
    }
    close(offsets[v + 1] - 1);
    return found;
  }

  const tripAt = time => trips.findIndex(trip => t[trip.first] <= time && time < t[trip.last]);

  function clock(time, seconds) {
    const instant = new Date(data.begin + time);
    return instant.toISOString().slice(11, seconds ? 19 : 16);
  }

  function write(id, text) {
    const element = byId(id);
    if (element.textContent !== text) element.textContent = text;
  }

  function follow(v) {
    state.follow = v;
    byId("vehicle").hidden = v < 0;
    if (v < 0) return;
    trips = tripsOf(v);
    shownTrip = -2;
    place(v, state.time);
    view.zoom = Math.max(view.zoom, 0.055 * data.scale);
    write("licence", data.licences[v]);
    write("model", data.types[kind[v]] + " · " + data.models[v]);
    byId("trips").replaceChildren(...trips.map((trip, number) => {
      const row = document.createElement("li"), button = document.createElement("button");
      button.textContent = clock(t[trip.first]) + " – " + clock(t[trip.last]) + " · " +
        (trip.metres / 1000).toFixed(1) + " km";
      button.addEventListener("click", () => { jump(t[trip.first]); if (!state.playing) toggle(); });
      button.dataset.trip = number;
      row.append(button);
      return row;
    }));
  }

  function tellVehicle() {
    const v = state.follow;
    if (v < 0) return;
    const i = at[v], seconds = (t[i + 1] - t[i]) / 1000;
    const metres = Math.hypot(x[i + 1] - x[i], y[i + 1] - y[i]) * data.scale;
    write("state", moving[v] ? Math.round(3.6 * metres / seconds) + " km/h" : tripAt(state.time) >= 0 ? "waiting" : "parked");
    const now = tripAt(state.time);
    if (now !== shownTrip) {
      byId("trips").querySelectorAll("button").forEach((button, number) => button.classList.toggle("now", number === now));
      shownTrip = now;
    }
  }

  function tell(driving) {
    const instant = new Date(data.begin + state.time);
    write("time", clock(state.time, state.rate <= 60));
    write("day", DAYS[instant.getUTCDay()] + ", " + instant.toISOString().slice(0, 10));
    write("driving", driving.toLocaleString("en"));
    tellVehicle();
    byId("slider").value = state.time / 1000;
    byId("slider").setAttribute("aria-valuetext", clock(state.time));
  }

  function drawTimeline() {
    const chart = byId("chart"), box = byId("timeline");
    chart.width = box.clientWidth * ratio; chart.height = box.clientHeight * ratio;
    const context = chart.getContext("2d"), w = chart.width, h = chart.height;
    const most = traffic.reduce((a, b) => Math.max(a, b), 1);
    context.fillStyle = "rgba(148,163,184,.08)";
    context.fillRect(0, 0, w, h);
    const area = new Path2D();
    area.moveTo(0, h);
    traffic.forEach((value, i) => area.lineTo(i / (traffic.length - 1) * w, h - (h - 16 * ratio) * value / most));
    area.lineTo(w, h);
    context.fillStyle = "rgba(251,191,36,.22)";
    context.fill(area);
    context.save();
    context.beginPath();
    context.rect(0, 0, w * state.time / span, h);
    context.clip();
    context.fillStyle = "rgba(251,191,36,.55)";
    context.fill(area);
    context.restore();
    context.fillStyle = "#94a3b8";
    context.font = 11 * ratio + "px system-ui, sans-serif";
    const hours = span / 3600000, every = [1, 2, 3, 4, 6, 12, 24, 48, 168].find(step => hours / step <= w / ratio / 64) || 336;
    const firstHour = Math.ceil(data.begin / 3600000 / every) * every;
    for (let hour = firstHour; hour * 3600000 <= data.end; hour += every) {
      const place = (hour * 3600000 - data.begin) / span * w;
      context.fillRect(place, 0, ratio, 4 * ratio);
      const instant = new Date(hour * 3600000);
      const words = every >= 24 ? instant.toISOString().slice(5, 10) : instant.toISOString().slice(11, 16);
      if (place < w - 34 * ratio) context.fillText(words, place + 4 * ratio, 11 * ratio);
    }
    context.fillStyle = "#fff";
    context.fillRect(w * state.time / span - ratio, 0, 2 * ratio, h);
  }

  let before = 0, lastLight = -1, lastMark = -1, frames = 0;
  function frame(now) {
    const passed = Math.min(now - before, 100);
    before = now;
    if (state.playing) {
      state.time += passed * state.rate;
      if (state.time >= span) { state.time = span - 1; toggle(); }
    }
    draw();
    requestAnimationFrame(frame);
  }

  function draw() {
    if (state.follow >= 0) {
      place(state.follow, state.time);
      const dx = px[state.follow] - view.x, dy = py[state.follow] - view.y;
      if (Math.abs(dx) + Math.abs(dy) > 0.05) { view.x += dx * 0.18; view.y += dy * 0.18; }
    }
    const light = Math.round(daylight() * 40);
    if (light !== lastLight) { lastLight = light; groundStale = true; }
    if (groundStale || !moveGround()) drawGround();
    tell(drawVehicles());
    const mark = Math.round(state.time / span * byId("timeline").clientWidth);
    if (mark !== lastMark) { lastMark = mark; drawTimeline(); }
    frames++;
  }

  function toggle() {
    state.playing = !state.playing;
    write("play", state.playing ? "Pause" : "Play");
    byId("play").setAttribute("aria-pressed", String(state.playing));
  }

  function jump(time) {
    state.time = Math.min(Math.max(time, 0), span - 1);
  }

  function nearest(sx, sy, reach) {
    let best = -1, least = reach * reach;
    for (let v = 0; v < count; v++) {
      const dx = screenX(px[v]) - sx, dy = screenY(py[v]) - sy, far = dx * dx + dy * dy - (moving[v] ? 60 : 0);
      if (far < least) { least = far; best = v; }
    }
    return best;
  }

  function zoomAt(sx, sy, factor) {
    const mapX = (sx - width / 2) / view.zoom + view.x, mapY = (height / 2 - sy) / view.zoom + view.y;
    const least = 0.5 * Math.min(width / data.width, height / data.height);
    view.zoom = Math.min(Math.max(view.zoom * factor, least), 2 * data.scale);
    view.x = mapX - (sx - width / 2) / view.zoom;
    view.y = mapY - (height / 2 - sy) / view.zoom;
  }

  const pointers = new Map();
  let dragged = 0;
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    dragged = 0;
  });
  canvas.addEventListener("pointermove", event => {
    const last = pointers.get(event.pointerId);
    if (!last) {
      state.hover = nearest(event.clientX, event.clientY, 14);
      canvas.classList.toggle("over", state.hover >= 0);
      return;
    }
    const dx = event.clientX - last[0], dy = event.clientY - last[1];
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const was = Math.hypot(last[0] - other[0], last[1] - other[1]);
      const is = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
      if (was > 0) zoomAt(other[0], other[1], is / was);
    } else {
      view.x -= dx / view.zoom;
      view.y += dy / view.zoom;
    }
    dragged += Math.abs(dx) + Math.abs(dy);
    if (dragged > 5) { canvas.classList.add("dragging"); if (pointers.size === 1) follow(-1); }
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, event => {
      pointers.delete(event.pointerId);
      canvas.classList.remove("dragging");
      if (name === "pointerup" && dragged <= 5) {
        const found = nearest(event.clientX, event.clientY, 18);
        if (found >= 0) follow(found);
      }
    });
  }
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoomAt(event.clientX, event.clientY, Math.exp(-event.deltaY * 0.0016));
  }, {passive: false});

  byId("play").addEventListener("click", toggle);
  byId("slider").addEventListener("input", event => jump(Number(event.target.value) * 1000));
  byId("rate").addEventListener("change", event => { state.rate = Number(event.target.value); });
  byId("whole").addEventListener("click", () => { follow(-1); overview(); });
  byId("stop").addEventListener("click", () => follow(-1));
  byId("districts").addEventListener("click", event => {
    state.districts = !state.districts;
    event.target.setAttribute("aria-pressed", String(state.districts));
    groundStale = true;
  });
  byId("any").addEventListener("click", () => {
    const driving = [];
    for (let v = 0; v < count; v++) if (moving[v] && v !== state.follow) driving.push(v);
    const all = driving.length ? driving : [...Array(count).keys()];
    follow(all[Math.floor(Math.random() * all.length)]);
  });
  byId("search").addEventListener("change", event => {
    const wanted = event.target.value.trim().toLowerCase();
    const found = data.licences.findIndex(licence => licence.toLowerCase() === wanted);
    event.target.setCustomValidity(wanted && found < 0 ? "There is no such vehicle." : "");
    if (!event.target.reportValidity()) return;
    if (found >= 0) follow(found);
  });
  window.addEventListener("keydown", event => {
    if (/^(INPUT|SELECT|BUTTON)$/.test(event.target.tagName) && event.target.id !== "slider") return;
    if (event.key === " ") { event.preventDefault(); toggle(); }
    if (event.key === "Escape") follow(-1);
    if (event.key === "ArrowRight" && event.target.id !== "slider") jump(state.time + 60000);
    if (event.key === "ArrowLeft" && event.target.id !== "slider") jump(state.time - 60000);
    if (event.key === "+") zoomAt(width / 2, height / 2, 1.3);
    if (event.key === "-") zoomAt(width / 2, height / 2, 1 / 1.3);
  });
  window.addEventListener("resize", fit);

  byId("legend").replaceChildren(...data.types.map((name, type) => {
    const entry = document.createElement("span"), dot = document.createElement("i");
    dot.style.background = COLOURS[type % COLOURS.length];
    entry.append(dot, name);
    return entry;
  }));
  byId("districts").hidden = !data.regions.names.length;
  byId("slider").max = Math.floor((span - 1) / 1000);
  state.time = data.show;
  byId("rate").value = "60";
  fit();
  overview();
  draw();
  if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) toggle();
  requestAnimationFrame(now => { before = now; frame(now); });

  window.cityPlayer = {
    state: state, view: view, jump: jump, follow: follow, draw: draw, toggle: toggle,
    frames: () => frames,
    position: v => { place(v, state.time); return [data.left + px[v] * data.scale, data.bottom + py[v] * data.scale]; },
    trips: () => trips.map(trip => [t[trip.first], t[trip.last], trip.metres]),
    onScreen: v => [screenX(px[v]), screenY(py[v])],
  };
})();
