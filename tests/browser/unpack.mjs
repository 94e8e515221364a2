// Unpacks Chromium into TMPDIR, and prints its path.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const installed = createRequire(`${process.cwd()}/`).resolve("@sparticuz/chromium");
const { default: chromium } = await import(pathToFileURL(installed));
console.log(await chromium.executablePath());
