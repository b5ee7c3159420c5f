// Takes a picture of the top of a page.
//
//   node page.cjs PAGE PICTURE HEIGHT

const path = require("path");
const puppeteer = require("puppeteer-core");

const [page, picture, height] = process.argv.slice(2);
const browser = process.env.BROWSER || "/usr/bin/chromium";

(async () => {
  const chromium = await puppeteer.launch({ executablePath: browser, headless: true, args: ["--no-sandbox", "--disable-gpu"], defaultViewport: { width: 900, height: Number(height) } });
  const tab = await chromium.newPage();
  await tab.goto(`file://${path.resolve(page)}`);
  await tab.screenshot({ path: picture });
  await chromium.close();
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
