"use strict";
for (const chart of document.querySelectorAll("svg.chart")) {
  const readings = chart.querySelector(".readings");
  if (!readings) continue;
  const places = readings.dataset.x.split(" ").map(Number);
  const times = readings.dataset.t.split(" ");
  const curves = [...readings.querySelectorAll("g")].map((curve) => [curve.dataset.name, curve.dataset.v.split(" ")]);
  const cursor = readings.querySelector(".cursor");
  const output = chart.closest("figure").querySelector("output");
  const show = (event) => {
    const box = chart.getBoundingClientRect();
    const x = (event.clientX - box.left) * chart.viewBox.baseVal.width / box.width;
    let near = 0;
    places.forEach((place, i) => { if (Math.abs(place - x) < Math.abs(places[near] - x)) near = i; });
    cursor.setAttribute("transform", `translate(${places[near]} 0)`);
    cursor.style.opacity = 0.6;
    output.textContent = `At ${times[near]} ${readings.dataset.unit}: ` + curves.map(([name, values]) => `${name} ${values[near]}`).join(", ");
  };
  chart.addEventListener("pointermove", show);
  chart.addEventListener("pointerleave", () => { cursor.style.opacity = 0; output.textContent = ""; });
}
for (const event of ["beforeprint", "afterprint"]) {
  addEventListener(event, () => {
    for (const part of document.querySelectorAll("details")) part.open = event === "beforeprint";
  });
}
