// Looks at every page as people do: `node look.mjs INSTALLED OPERATORS_LINK PERSONS_LINK FOLDER`. Screenshots go to FOLDER. Says what is wrong, a
// line each, and ends with 1 then.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [installed, link, personsLink, folder] = process.argv.slice(2);
const require = createRequire(join(installed, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const origin = new URL(link).origin;

let wrong = 0;
const expect = (holds, said) => {
  if (holds) return;
  wrong += 1;
  console.log(said);
};

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/// A window of its own. Whatever a browser complains of is wrong, and so is every request to another host.
const open = async (name, settings) => {
  const context = await browser.newContext(settings);
  const page = await context.newPage();
  page.on("console", (said) => expect(!["error", "warning"].includes(said.type()), `${name}: ${said.text()}`));
  page.on("pageerror", (error) => expect(false, `${name}: ${error}`));
  page.on("request", (request) => expect(request.url().startsWith(origin), `${name}: asks for ${request.url()}`));
  return { name, context, page };
};

/// Chromium on a busy machine now and then has no frame to give ("Unable to capture screenshot"), which says nothing of the page.
const screenshot = async (page, path, attemptsLeft = 3) => {
  try {
    await page.screenshot({ path });
  } catch (error) {
    if (attemptsLeft <= 1) throw error;
    console.error(`once more: ${error.message}`);
    await screenshot(page, path, attemptsLeft - 1);
  }
};

const looks = async ({ name, page }, at) => {
  await screenshot(page, join(folder, `${at}-${name}.png`));
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run());
  for (const it of found.violations) {
    const where = it.nodes.map((node) => node.target.join(" ")).join(", ");
    expect(false, `${name} ${at}: ${it.impact} ${it.id} at ${where}`);
  }
  const about = await page.locator(".about").allTextContents();
  expect(!about.some((text) => /None|undefined/.test(text)), `${name} ${at}: says of something that it is none`);
  const overflows = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  expect(!overflows, `${name} ${at}: wider than the window`);
};

const walks = async (window) => {
  const { name, page } = window;
  await page.goto(`${origin}/conversations`);
  await looks(window, "conversations");
  const shown = () => page.locator("#list time").count();
  const first = await shown();
  await page.locator("li.older").scrollIntoViewIfNeeded();
  await page.waitForFunction((first) => document.querySelectorAll("#list time").length > first, first);
  await page.fill("input[name=words]", "coffee machine");
  await page.click("form.filters button");
  expect((await shown()) === 1, `${name}: ${await shown()} conversations of the coffee machine`);
  await page.click("#list a");
  await looks(window, "conversation");
  await page.locator("text=Why this answer?").last().click();
  await page.waitForSelector("#picture canvas");
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => document.getElementById("picture")._cyreg.cy.nodes()[1].select());
  const chosen = await page.textContent("#chosen");
  expect(chosen.includes("4711"), `${name}: the chosen circle says ${chosen}`);
  await looks(window, "why");
  await page.click("text=Turn before");
  expect((await page.textContent("h1")) === "Why this answer", `${name}: no turn before`);
  await page.click("nav >> text=Memory");
  await page.fill("input[name=question]", "What is the code of the coffee machine?");
  await page.click("form.filters button");
  expect((await page.textContent("tbody")).includes("4711"), `${name}: nothing is recalled`);
  await looks(window, "memory");
  await page.click("nav >> text=Knowledge");
  await page.fill("input[name=question]", "Where is the xylophone?");
  await page.click("form.filters button");
  expect((await page.textContent("ol.list")).includes("room 7"), `${name}: nothing is found`);
  await looks(window, "knowledge");
  await page.goto(`${origin}/cypher`);
  await page.waitForSelector("#picture canvas");
  const labels = await page.evaluate(() => document.getElementById("picture")._cyreg.cy.nodes().map((node) => node.data("label")));
  expect(labels.some((label) => label.startsWith("Movie (")), `${name}: the schema is drawn as ${labels}`);
  await looks(window, "schema");
  await page.fill("textarea", "MATCH (m:Movie) RETURN m.title AS title ORDER BY title");
  await page.click("main button");
  expect((await page.textContent("tbody")).includes("Apollo 13"), `${name}: no rows`);
  await looks(window, "cypher");
  await page.fill("textarea", "MATCH (r:Response) RETURN r.input");
  await page.click("main button");
  expect((await page.locator("[role=alert]").count()) === 1, `${name}: memory is not refused`);
  await page.click("nav >> text=Health");
  expect((await page.locator(".plot path").first().getAttribute("d")) !== "", `${name}: nothing is plotted`);
  await page.locator(".plot summary").first().click();
  await looks(window, "health");
  await page.click("text=Check the graph");
  expect((await page.locator("tr.verdict_ok").count()) > 0, `${name}: nothing is found well`);
  await page.click("text=Read them again now");
  expect((await page.textContent("h1")) === "Health", `${name}: not at home after reading again`);
};

const wide = await open("wide", { viewport: { width: 1200, height: 900 } });
await wide.page.goto(link);
await looks(wide, "door");
await wide.page.click("main button");
await wide.page.waitForURL("**/conversations");
await walks(wide);
const storageState = await wide.context.storageState();
const narrow = { width: 390, height: 844 };
await walks(await open("phone", { viewport: narrow, colorScheme: "dark", storageState }));

// A picture of many things can be panned and zoomed.
const many = await open("many", { viewport: { width: 1200, height: 900 }, storageState });
const things = Array.from({ length: 500 }, (_, at) => ({ kind: at ? "recalled" : "question", kind_said: "", label: `thing ${at}`, text: `thing ${at}`, address: null }));
const links = things.slice(1).map((_, at) => ({ from: at + 1, to: 0, said: null }));
await many.page.route("**/why/picture*", (route) => route.fulfill({ json: { layout: "around", things, links } }));
await many.page.goto(`${origin}/conversations?words=coffee+machine`);
await many.page.click("#list a");
await many.page.locator("text=Why this answer?").last().click();
await many.page.waitForSelector("#picture canvas");
const drawn = await many.page.evaluate(async () => {
  const view = document.getElementById("picture")._cyreg.cy;
  const begun = performance.now();
  const frames = 60;
  for (let frame = 0; frame < frames; frame += 1) {
    view.panBy({ x: 2, y: 1 });
    view.zoom(view.zoom() * (frame % 2 ? 1.05 : 0.95));
    await new Promise(requestAnimationFrame);
  }
  return { nodes: view.nodes().length, perFrame: (performance.now() - begun) / frames };
});
expect(drawn.nodes === 500, `${drawn.nodes} of 500 things are drawn`);
console.error(`500 things: ${drawn.perFrame.toFixed(1)} ms a frame`);

// Somebody who is not the operator: sees what is remembered of them, and has something forgotten.
const person = await open("person", { viewport: narrow });
await person.page.goto(personsLink);
await person.page.click("main button");
await person.page.waitForURL("**/conversations");
expect((await person.page.locator("nav >> text=Health").count()) === 0, "people are offered the operator's page");
await person.page.goto(`${origin}/memory?words=Maria`);
await looks(person, "own-memory");
const own = person.page.locator(".list article", { hasText: "Maria is on call" });
await own.locator("summary", { hasText: "Correct" }).click();
await own.locator("textarea").fill("Jon is on call this week.");
await own.locator("form[action='/memory/correct'] button").click();
expect((await person.page.textContent(".receipt")).startsWith("Corrected"), "no receipt of a correction");
await person.page.locator(".list article", { hasText: "Jon is on call" }).locator("text=Forget").click();
await person.page.locator(".receipt", { hasText: "Forgotten" }).waitFor();
await looks(person, "receipt");
expect((await person.page.textContent(".receipt")).startsWith("Forgotten"), "no receipt of what was forgotten");
expect(!(await person.page.textContent(".list")).includes("on call"), "what was forgotten is still listed");
await person.page.goto(`${origin}/memory?question=Who+is+on+call%3F`);
const recalled = person.page.locator("tbody");
expect((await recalled.count()) === 0 || !(await recalled.textContent()).includes("on call"), "what was forgotten is still recalled");
const [download] = await Promise.all([person.page.waitForEvent("download"), person.page.click("text=Download as text")]);
expect(readFileSync(await download.path(), "utf8").includes("4711"), "the copy is not whole");
person.page.removeAllListeners("console");
const refused = await person.page.goto(`${origin}/health`);
expect(refused.status() === 404, `people at the operator's page: ${refused.status()}`);

// Without script the table says what the picture does, and the list goes on by a link.
const plain = await open("plain", { javaScriptEnabled: false, storageState });
await plain.page.goto(`${origin}/conversations`);
await plain.page.click("li.older a");
expect((await plain.page.locator("#list time").count()) > 0, "without script: no older conversations");
await plain.page.goto(`${origin}/conversations?words=coffee+machine`);
await plain.page.click("#list a");
await plain.page.locator("text=Why this answer?").last().click();
expect((await plain.page.textContent("tbody")).includes("4711"), "without script: no table");
expect(!(await plain.page.locator("figure").isVisible()), "without script: an empty picture");

// Somebody else is let in nowhere, also by the link that was used.
const stranger = await browser.newContext();
for (const path of ["/conversations", "/memory", "/knowledge", "/cypher", "/health"]) {
  const answer = await (await stranger.newPage()).goto(origin + path);
  expect(answer.status() === 401, `a stranger at ${path}: ${answer.status()}`);
}
const again = await stranger.newPage();
await again.goto(link);
await again.click("main button");
expect((await again.textContent("h1")) === "This link does not work", "a link works twice");

// What comes then is refused, as it should be.
wide.page.removeAllListeners("console");
await wide.page.click("text=Sign out");
expect((await wide.page.textContent("h1")) === "You are not signed in", "nobody is signed out");
await browser.close();
process.exit(wrong > 0 ? 1 : 0);
