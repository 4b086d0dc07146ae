// Draws what an answer came from, or what is in the graph. Without this the table or text below says the same.
"use strict";
(async () => {
  const canvas = document.getElementById("picture");
  if (!canvas || typeof cytoscape === "undefined") return;
  const answer = await fetch(canvas.dataset.things, { headers: { accept: "application/json" } });
  if (!answer.ok) return;
  const { layout, things, links } = await answer.json();
  if (things.length === 0) return;
  canvas.closest("figure").hidden = false;
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const family = (kind) =>
    kind.startsWith("recalled") ? "recalled" : kind === "removed_source" ? "critic" : kind;
  const nodes = things.map((thing, at) => ({ data: { id: `t${at}`, label: thing.label, family: family(thing.kind), thing } }));
  const edges = links.map((link, at) => ({
    data: { id: `e${at}`, source: `t${link.from}`, target: `t${link.to}`, said: link.said ?? "" },
  }));
  const few = things.length <= 40;
  const kinds = ["question", "recalled", "context", "tool", "statement", "critic"].map((name) => ({
    selector: `node[family = "${name}"]`,
    style: { "background-color": color(name) },
  }));
  const view = cytoscape({
    container: canvas,
    elements: [...nodes, ...edges],
    layout:
      layout === "around"
        ? { name: "concentric", concentric: (node) => (node.id() === "t0" ? 2 : 1), levelWidth: () => 1, minNodeSpacing: few ? 60 : 8 }
        : { name: "cose", animate: false, randomize: false, nodeDimensionsIncludeLabels: true, idealEdgeLength: 120 },
    minZoom: 0.1,
    maxZoom: 4,
    textureOnViewport: !few,
    style: [
      { selector: "node", style: { width: 22, height: 22, color: color("front"), "font-size": 11, label: few ? "data(label)" : "", "text-wrap": "ellipsis", "text-max-width": "140px", "text-valign": "bottom", "text-margin-y": 4 } },
      { selector: "edge", style: { width: 1.5, "line-color": color("line"), "curve-style": "bezier", "target-arrow-shape": layout === "around" ? "none" : "triangle", "target-arrow-color": color("line"), label: few ? "data(said)" : "", color: color("soft"), "font-size": 9, "text-rotation": "autorotate" } },
      { selector: ":selected", style: { "border-width": 3, "border-color": color("front") } },
      ...kinds,
    ],
  });
  // A few things need not fill the picture.
  if (view.zoom() > 1.3) {
    view.zoom(1.3);
    view.center();
  }
  const chosen = document.getElementById("chosen");
  view.on("select", "node", (event) => {
    const thing = event.target.data("thing");
    chosen.textContent = `${thing.kind_said}: ${thing.text} `;
    if (thing.address) {
      const link = document.createElement("a");
      link.href = thing.address;
      link.textContent = "→";
      link.setAttribute("aria-label", thing.label);
      chosen.append(link);
    }
  });
  view.on("unselect", "node", () => chosen.replaceChildren());
})();
