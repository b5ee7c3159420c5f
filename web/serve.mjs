// Serves dist/lab on loopback, for looking at it: node serve.mjs [PORT]

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };

/** Serves files as static hosts do: compresses text with gzip, and does not resend what a browser has cached. `sent` counts bytes of bodies. */
export function serve(folder, port = 0) {
  const sent = new Map();
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    const type = TYPES[extname(file)];
    try {
      const content = await readFile(file);
      const etag = `"${createHash("sha256").update(content).digest("hex").slice(0, 16)}"`;
      const headers = { "content-type": type ?? "application/octet-stream", "cache-control": "no-cache", etag };
      if (request.headers["if-none-match"] === etag) {
        response.writeHead(304, headers).end();
        return;
      }
      const packed = type && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
      const body = packed ? gzipSync(content) : content;
      if (packed) headers["content-encoding"] = "gzip";
      sent.set(path, (sent.get(path) ?? 0) + body.length);
      response.writeHead(200, headers).end(body);
    } catch {
      response.writeHead(404).end("not found");
    }
  });
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve({ server, sent, port: server.address().port })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), "dist/lab");
  const { port } = await serve(folder, Number(process.argv[2] ?? 8000));
  console.log(`http://127.0.0.1:${port}/`);
}
